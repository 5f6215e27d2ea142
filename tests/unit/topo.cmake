podsim_unit_test(topo_spec_test topo)
podsim_unit_test(topo_route_test topo)
podsim_unit_test(topo_group_test topo)
podsim_unit_test(topo_metrics_test topo)
