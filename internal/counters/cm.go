package counters

// The directories of ports/N in which ib_cm counts its messages, and the kinds
// of message, a file each.
var (
	cmGroups   = []string{"cm_tx_msgs", "cm_tx_retries", "cm_rx_msgs", "cm_rx_duplicates"}
	cmMessages = []string{"req", "rep", "rtu", "rej", "mra", "dreq", "drep", "sidr_req", "sidr_rep"}
)

// cm are the counters of the connection manager, "cm_tx_retries/req". Source:
// drivers/infiniband/core/cm.c (struct cm_counter_attribute). iWARP devices
// have none. Messages for alternate paths (lap, apr), which nobody sends, are
// left out.
var cm = register(CM, cmCounters())

func cmCounters() []Counter {
	var all []Counter
	for i, group := range cmGroups {
		// What is sent again or comes twice is what an answer was missing for.
		class := []Class{Traffic, Connection}[i%2]
		direction := []Direction{TX, RX}[i/2]
		for _, message := range cmMessages {
			all = append(all, Counter{group + "/" + message, class, direction, "messages", 64, false})
		}
	}
	return all
}
