package checks

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func dscp(d, prio int) facts.App {
	return facts.App{Selector: facts.SelectorDSCP, Protocol: d, Priority: prio}
}

func TestRide(t *testing.T) {
	both := facts.Some(facts.Pause{RX: true, TX: true})
	rxOnly := facts.Some(facts.Pause{RX: true})
	vlan := []facts.GID{{Index: 1, Value: "0000:0000:0000:0000:0000:ffff:c000:0201", Netdev: facts.Some("eth2.7")}}
	tests := []struct {
		name     string
		port     facts.Port
		provider string
		netdev   facts.Netdev
		dcb      facts.DCB
		pfc      uint8
		pause    facts.Opt[facts.Pause]
		priority facts.Opt[int]
		mapped   bool
		want     qosVerdict
	}{
		{name: "factory", priority: facts.Some(0), want: qosLossy},
		{name: "global pause both ways", pause: both, priority: facts.Some(0), want: qosGlobalPause},
		{name: "global pause one way", pause: rxOnly, priority: facts.Some(0), want: qosLossy},
		{name: "map and PFC agree", dcb: facts.DCB{Apps: []facts.App{dscp(26, 3)}}, pfc: 1 << 3,
			priority: facts.Some(3), mapped: true, want: qosLossless},
		{name: "map without PFC", dcb: facts.DCB{Apps: []facts.App{dscp(26, 3)}},
			priority: facts.Some(3), mapped: true, want: qosPFCOff},
		{name: "map without PFC but global pause", dcb: facts.DCB{Apps: []facts.App{dscp(26, 3)}}, pause: both,
			priority: facts.Some(3), mapped: true, want: qosGlobalPause},
		{name: "PFC without map", pfc: 1 << 3, priority: facts.Some(0), want: qosPriorityZero},
		{name: "PFC on zero without map", pfc: 1, priority: facts.Some(0), want: qosLossless},
		{name: "map elsewhere", dcb: facts.DCB{Apps: []facts.App{dscp(26, 4)}}, pfc: 1 << 3,
			priority: facts.Some(4), mapped: true, want: qosMapMismatched},
		{name: "CNP entry is not RoCE's", dcb: facts.DCB{Apps: []facts.App{dscp(48, 6), dscp(26, 3)}}, pfc: 1 << 3,
			priority: facts.Some(3), mapped: true, want: qosLossless},
		{name: "CNP DSCP as the driver says", dcb: facts.DCB{Apps: []facts.App{dscp(24, 6), dscp(26, 3)}}, pfc: 1 << 3,
			netdev: facts.Netdev{ECN: map[string]int{"roce_np/cnp_dscp": 24}}, priority: facts.Some(3), mapped: true, want: qosLossless},
		{name: "many DSCPs, one lossless", dcb: facts.DCB{Apps: []facts.App{dscp(26, 3), dscp(34, 4)}}, pfc: 1 << 3,
			want: qosUndecided},
		{name: "many DSCPs, none lossless", dcb: facts.DCB{Apps: []facts.App{dscp(26, 2), dscp(34, 4)}}, pfc: 1 << 3,
			want: qosMapMismatched},
		{name: "trust alone, mlx5 has its own map", provider: "mlx5", dcb: facts.DCB{Trust: []string{"dscp"}}, pfc: 1 << 3,
			want: qosUndecided},
		{name: "trust and the CNP's entry", provider: "mlx5", dcb: facts.DCB{Apps: []facts.App{dscp(48, 6)}}, pfc: 1 << 3,
			want: qosUndecided},
		{name: "trust alone, elsewhere all is zero", dcb: facts.DCB{Trust: []string{"dscp"}}, pfc: 1 << 3,
			want: qosMapMismatched},
		{name: "trust alone, and zero is lossless", dcb: facts.DCB{Trust: []string{"dscp"}}, pfc: 1, want: qosUndecided},
		{name: "many DSCPs, the override says which", port: facts.Port{TrafficClass: facts.Some(106)},
			dcb: facts.DCB{Apps: []facts.App{dscp(26, 3), dscp(34, 4)}}, pfc: 1 << 4,
			priority: facts.Some(3), mapped: true, want: qosMapMismatched},
		{name: "the override beats rdma_cm", port: facts.Port{TrafficClass: facts.Some(136), CMRoCETOS: facts.Some(106)},
			dcb: facts.DCB{Apps: []facts.App{dscp(26, 3), dscp(34, 4)}}, pfc: 1 << 4,
			priority: facts.Some(4), mapped: true, want: qosLossless},
		{name: "rdma_cm's default of zero says nothing", port: facts.Port{CMRoCETOS: facts.Some(0)},
			dcb: facts.DCB{Apps: []facts.App{dscp(26, 3)}}, pfc: 1 << 3, priority: facts.Some(3), mapped: true, want: qosLossless},
		{name: "DSCP without entry, mlx5 keeps its own map", provider: "mlx5", port: facts.Port{CMRoCETOS: facts.Some(104)},
			dcb: facts.DCB{Apps: []facts.App{dscp(34, 5), dscp(35, 5)}}, pfc: 1 << 3, priority: facts.Some(3), want: qosLossless},
		{name: "DSCP without entry elsewhere is zero", port: facts.Port{CMRoCETOS: facts.Some(104)},
			dcb: facts.DCB{Apps: []facts.App{dscp(34, 5), dscp(35, 5)}}, pfc: 1 << 3, priority: facts.Some(0), want: qosPriorityZero},
		{name: "trust table says PCP", dcb: facts.DCB{Trust: []string{"pcp"}, Apps: []facts.App{dscp(26, 3)}}, pfc: 1 << 3,
			priority: facts.Some(0), want: qosPriorityZero},
		{name: "tagged with PCP trust", port: facts.Port{GIDs: vlan}, netdev: facts.Netdev{Name: "eth2"}, pfc: 1 << 3,
			want: qosUndecided},
		{name: "UDP port entry", dcb: facts.DCB{Apps: []facts.App{{Selector: 3, Protocol: 4791, Priority: 3}}}, pfc: 1 << 3,
			priority: facts.Some(3), mapped: true, want: qosLossless},
		{name: "hostile priority", dcb: facts.DCB{Apps: []facts.App{dscp(26, 99)}}, pfc: 0xff,
			priority: facts.Some(99), mapped: true, want: qosMapMismatched},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := &facts.Device{Name: "mlx5_0"}
			if tt.provider != "" {
				d.Provider = facts.Some(tt.provider)
			}
			r := findRide(PortRef{&tt.port, d}, &tt.netdev, tt.dcb)
			if r.Priority != tt.priority || r.Mapped != tt.mapped {
				t.Errorf("ride %+v, want priority %s, mapped %v", r, tt.priority, tt.mapped)
			}
			if got := judgeQoS(r, tt.dcb, facts.PFC{Enabled: tt.pfc}, tt.pause); got != tt.want {
				t.Errorf("verdict %s, want %s; ride %+v", got, tt.want, r)
			}
		})
	}
}
