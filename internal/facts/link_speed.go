package facts

// lane is what one lane of an InfiniBand speed does.
type lane struct {
	shown BitsPerSecond // as rate_show and ibv_devinfo print it
	data  BitsPerSecond // after the encoding (IBTA volume 2)
}

// lanes by the word of ports/N/rate. 8b/10b leaves four fifths up to QDR,
// 64b/66b 64 of 66 from FDR10 to EDR; from HDR on the name is the data rate.
var lanes = map[string]lane{
	"SDR":   {2_500_000_000, 2_000_000_000},
	"DDR":   {5_000_000_000, 4_000_000_000},
	"QDR":   {10_000_000_000, 8_000_000_000},
	"FDR10": {10_000_000_000, 10_000_000_000},
	"FDR":   {14_000_000_000, 13_636_363_636},
	"EDR":   {25_000_000_000, 25_000_000_000},
	"HDR":   {50_000_000_000, 50_000_000_000},
	"NDR":   {100_000_000_000, 100_000_000_000},
	"XDR":   {200_000_000_000, 200_000_000_000},
}

// DataRate is what width lanes at speed carry, "QDR" with 4 lanes 32 Gb/s where
// sysfs prints 40. It is false for a speed that is not known.
func DataRate(speed string, width int) (BitsPerSecond, bool) {
	l, ok := lanes[speed]
	if !ok || width <= 0 {
		return 0, false
	}
	return l.data * BitsPerSecond(width), true
}

// LaneRate is the rate of one lane as sysfs shows it, and whether the speed is
// known.
func LaneRate(speed string) (BitsPerSecond, bool) {
	l, ok := lanes[speed]
	return l.shown, ok
}
