package status

import "time"

// AckTimeout is the local ACK timeout of a QP attribute timeout: 4.096 us
// times two to its power. 0 waits for ever and is 0 here.
func AckTimeout(timeout int) time.Duration {
	if timeout <= 0 || timeout > 31 {
		return 0
	}
	return time.Duration(4096) * time.Nanosecond << timeout
}

// GiveUp is how long a requester waits before it gives status 12: between one
// ACK timeout for each try and four times that, which devices may take. Both
// are 0 where the wait is endless.
func GiveUp(timeout, retries int) (least, most time.Duration) {
	one := AckTimeout(timeout)
	tries := time.Duration(min(max(retries, 0), 7) + 1)
	return one * tries, 4 * one * tries
}

// rnrTimers are the values of min_rnr_timer in units of 10 us (InfiniBand
// Architecture Specification, volume 1, 9.7.5.2.8).
var rnrTimers = [32]int{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRTimer is the wait that min_rnr_timer asks of a requester. 0 is the
// longest of all, 655.36 ms.
func RNRTimer(timer int) time.Duration {
	if timer < 0 || timer >= len(rnrTimers) {
		return 0
	}
	return time.Duration(rnrTimers[timer]) * 10 * time.Microsecond
}
