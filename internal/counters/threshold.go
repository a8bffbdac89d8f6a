package counters

// Threshold is a number that somebody outside of this program holds a counter
// against.
type Threshold struct {
	Value     uint64
	Per       string // what the number is of: "since cleared", "of one second"
	Authority string
}

const (
	sampleThresholds = "rdma-core's error_thresholds, which ibqueryerrors reads"
	ociHostTest      = "OCI's health test of H100 hosts"
	mlx5Document     = "the kernel's mlx5 counters.rst"
)

var thresholds = map[key]Threshold{
	{Port, "symbol_error"}:                    {10, "since cleared", sampleThresholds},
	{Port, "link_error_recovery"}:             {10, "since cleared", sampleThresholds},
	{Port, "link_downed"}:                     {10, "since cleared", sampleThresholds},
	{Port, "port_rcv_errors"}:                 {10, "since cleared", sampleThresholds},
	{Port, "port_rcv_remote_physical_errors"}: {100, "since cleared", sampleThresholds},
	{Port, "port_rcv_switch_relay_errors"}:    {100, "since cleared", sampleThresholds},
	{Port, "port_xmit_discards"}:              {100, "since cleared", sampleThresholds},
	{Port, "port_xmit_constraint_errors"}:     {100, "since cleared", sampleThresholds},
	{Port, "port_rcv_constraint_errors"}:      {100, "since cleared", sampleThresholds},
	{Port, "local_link_integrity_errors"}:     {10, "since cleared", sampleThresholds},
	{Port, "excessive_buffer_overrun_errors"}: {10, "since cleared", sampleThresholds},
	{Port, "VL15_dropped"}:                    {100, "since cleared", sampleThresholds},
	{Port, "port_xmit_wait"}:                  {1000, "since cleared", sampleThresholds},
	{Ethtool, "rx_prio#_discards"}:            {100, "since the driver was loaded", ociHostTest},
	{Ethtool, "outbound_pci_stalled_rd"}:      {30, "percent of a second", mlx5Document},
	{Ethtool, "outbound_pci_stalled_wr"}:      {30, "percent of a second", mlx5Document},
}

// Threshold is what somebody holds the counter called name against.
func (p Place) Threshold(name string) (Threshold, bool) {
	c, _, ok := Lookup(p, name)
	if !ok {
		return Threshold{}, false
	}
	t, ok := thresholds[key{p, c.Name}]
	return t, ok
}
