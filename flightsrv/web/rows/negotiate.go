package rows

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/vibeflight/vibeflight/flightsrv/ticket"
	"github.com/vibeflight/vibeflight/flightsrv/web/httpcall"
)

// Choice is the format of an answer.
type Choice struct {
	Format      Format
	Compression ticket.Compression // inside of the format
	Coding      httpcall.Codec     // of the body
	Download    bool               // browsers save the answer
}

// Request is what a client asks for. Empty fields are not given.
type Request struct {
	Format      string // name of a format; "": as Accept says
	Compression string // inside of the format: none, lz4 or zstd
	Download    bool
}

// Choose returns the format of an answer: the one that is named, or else the one that the client
// weights highest (RFC 9110 section 12.5.1), and of several the first one of Formats.
func Choose(r *http.Request, asked Request) (Choice, error) {
	c := Choice{Download: asked.Download}
	accepted := httpcall.Elements(r.Header, "Accept")
	var as httpcall.Element // the element of Accept that the format has
	if asked.Format != "" {
		i := slices.IndexFunc(Formats, func(f Format) bool {
			return f.Name == asked.Format || slices.Contains(f.Aliases, asked.Format)
		})
		if i < 0 {
			return c, httpcall.BadRequest(fmt.Sprintf("format %.100q: unknown; known are %s", asked.Format, names()))
		}
		c.Format = Formats[i]
		as = c.Format.weight(accepted)
	} else {
		var err error
		if c.Format, as, err = best(accepted); err != nil {
			return c, err
		}
	}
	var err error
	if c.Compression, err = c.Format.compression(asked.Compression, as.Parameters["codecs"]); err != nil {
		return c, err
	}
	c.Coding, err = httpcall.ChooseCodec(r, c.Compression == ticket.NoCompression)
	return c, err
}

// best returns the format that the client weights highest.
func best(accepted []httpcall.Element) (f Format, as httpcall.Element, err error) {
	if len(accepted) == 0 {
		return Formats[0], as, nil
	}
	for _, each := range Formats {
		if w := each.weight(accepted); w.Weight > as.Weight {
			f, as = each, w
		}
	}
	if as.Weight == 0 {
		var types []string
		for _, f := range Formats {
			types = append(types, f.MediaType)
		}
		return f, as, &httpcall.Error{
			Status: http.StatusNotAcceptable, Code: "INVALID_ARGUMENT",
			Detail: "Accept allows no format of this answer; the formats are " + strings.Join(types, ", "),
		}
	}
	return f, as, nil
}

// weight returns the element of Accept that the format has: that of its media type or of an alias.
func (f Format) weight(accepted []httpcall.Element) httpcall.Element {
	best := httpcall.WeightOf(accepted, f.MediaType)
	for _, alias := range f.Aliases {
		if !strings.Contains(alias, "/") {
			continue
		}
		i := slices.IndexFunc(accepted, func(w httpcall.Element) bool { return w.Value == alias })
		if i >= 0 && accepted[i].Weight > best.Weight {
			best = accepted[i]
		}
	}
	return best
}

// compressions are the values of the parameter compression, and of codecs in Accept.
var compressions = map[string]ticket.Compression{
	"none": ticket.NoCompression, "lz4": ticket.LZ4, "zstd": ticket.Zstd,
}

// compression returns the compression inside of the format: the one that is asked for, or else the
// first known one of a list of codecs.
func (f Format) compression(asked, codecs string) (ticket.Compression, error) {
	if asked == "" {
		for _, name := range strings.Split(codecs, ",") {
			c, known := compressions[strings.ToLower(strings.TrimSpace(name))]
			if known && slices.Contains(f.Compressions, c) {
				return c, nil
			}
		}
		return f.Compressions[0], nil
	}
	c, known := compressions[asked]
	if !known || !slices.Contains(f.Compressions, c) {
		return c, httpcall.BadRequest(fmt.Sprintf("compression %.40q: %s does not have it", asked, f.Name))
	}
	return c, nil
}
