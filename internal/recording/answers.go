package recording

import (
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Answers are the answers of one sample by Op.Key.
type Answers struct {
	Began   time.Time
	Results map[string]hostio.Result
}

// Answers gives all that was recorded.
func (r *Recorder) Answers() []Answers {
	var all []Answers
	for _, s := range r.samples {
		a := Answers{s.began, map[string]hostio.Result{}}
		for key, rd := range s.reads {
			a.Results[key] = rd.res
		}
		all = append(all, a)
	}
	return all
}

// Answers gives all that the recording holds.
func (r *Replay) Answers() []Answers {
	var all []Answers
	for i, idx := range r.samples {
		a := Answers{r.manifest.Samples[i].Began, map[string]hostio.Result{}}
		for text, e := range idx.Ops {
			key := text
			if strings.HasPrefix(text, `"`) { // See keyText.
				if plain, err := strconv.Unquote(text); err == nil {
					key = plain
				}
			}
			a.Results[key] = r.result(e)
		}
		all = append(all, a)
	}
	return all
}

// Recorded is a Recorder that has recorded these answers, to be written.
func Recorded(all []Answers) *Recorder {
	r := NewRecorder(nil)
	for _, a := range all {
		s := sample{a.Began, map[string]read{}}
		for key, res := range a.Results {
			kind, name, _ := strings.Cut(key, ":")
			s.reads[key] = read{hostio.Op{Kind: hostio.Kind(kind), Name: name}, res}
		}
		r.samples = append(r.samples, s)
	}
	return r
}
