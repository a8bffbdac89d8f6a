package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var losslessBuffer = register(&Check{
	ID:    "lossless-buffer",
	Title: "lossless priorities have a receive buffer of their own",
	Doc: "PFC stops the sender when the priority's receive buffer fills. In a buffer shared with lossy priorities, whose " +
		"threshold is none, the stop comes too late and packets are dropped. A priority beside that to which RoCE is mapped is " +
		"another protocol's matter.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.DCBNetlink},
	Uses:  []facts.Source{facts.PCISysfs, facts.ConfigFS},
	Codes: []string{"buffer-not-lossless"},
	Params: Params{
		"buffer-not-lossless": "device port netdev pci? priority buffer? free_buffer? sizes?",
	},
	Run: func(p *Pass) {
		p.Read(facts.ConfigFS)
		for q := range p.qosPorts() {
			pfc, ok := q.PFC.Get()
			if !ok {
				p.missing(facts.DCBNetlink, q.Netdev.Name, "PFC")
				continue
			}
			buffers, ok := q.Buffer.Get()
			switch {
			case pfc.Enabled == 0:
				p.NotApplicable("no priority of %s is lossless", q.Netdev.Name)
				continue
			case !ok: // Few drivers tell (mlx5 does): the question is of those.
				p.NotApplicable("%s does not tell its buffers", q.Netdev.Name)
				continue
			}
			judgeBuffers(p, q, pfc, buffers)
		}
	},
})

func judgeBuffers(p *Pass, q qosPort, pfc facts.PFC, b facts.Buffer) {
	for prio := range 8 {
		buffer := b.PrioBuffer[prio]
		if !pfc.On(prio) || buffer < 0 || buffer > 7 {
			continue
		}
		f := Finding{
			Code: "buffer-not-lossless", Severity: Warn, Subject: q.PortRef.String(), Confidence: Proved, Where: q.Where(),
			Evidence: []Evidence{pfcEvidence(q.Netdev.Name, pfc), bufferEvidence(q.Netdev.Name, b)},
			Params:   q.Params(append([]string{"priority", strconv.Itoa(prio)}, betterBuffer(pfc, b)...)...),
		}
		lossy := -1
		for other := range 8 {
			if !pfc.On(other) && b.PrioBuffer[other] == buffer {
				lossy = other
				break
			}
		}
		switch {
		case b.Size[buffer] == 0:
			f.Severity = Fail
			f.Message = fmt.Sprintf("lossless priority %d uses buffer %d, which has no room", prio, buffer)
		case lossy >= 0:
			f.Message = fmt.Sprintf("lossless priority %d shares buffer %d with lossy priority %d", prio, buffer, lossy)
		default:
			continue
		}
		if rides, ok := q.Priority.Get(); ok && q.Mapped && rides != prio {
			f.Severity = Info
			f.Message += fmt.Sprintf(", and RoCE rides priority %d", rides)
		}
		p.Report(f)
	}
}

// betterBuffer names a buffer with room that no lossy priority uses. Where
// there is none it names a free one with the sizes to set, buffer 0's room
// being split in halves.
func betterBuffer(pfc facts.PFC, b facts.Buffer) []string {
	lossy := map[int]bool{0: true} // Buffer 0 is where everything else goes.
	for prio := range 8 {
		if !pfc.On(prio) {
			lossy[b.PrioBuffer[prio]] = true
		}
	}
	free := ""
	for i, size := range b.Size {
		switch {
		case lossy[i]:
		case size > 0:
			return []string{"buffer", strconv.Itoa(i)}
		case free == "":
			free = strconv.Itoa(i)
		}
	}
	if free == "" || b.Size[0] < 2 {
		return nil
	}
	half := strconv.Itoa(int(b.Size[0] / 2))
	return []string{"free_buffer", free, "sizes", "0:" + half + " " + free + ":" + half}
}

// bufferEvidence shows the map as dcb(8) prints it.
func bufferEvidence(netdev string, b facts.Buffer) Evidence {
	text := "prio-buffer"
	for prio, buffer := range b.PrioBuffer {
		text += fmt.Sprintf(" %d:%d", prio, buffer)
	}
	text += " buffer-size"
	for i, size := range b.Size {
		text += fmt.Sprintf(" %d:%d", i, size)
	}
	return Evidence{"dcb buffer show dev " + netdev, text}
}
