package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// list answers with all pipelines.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) error {
	all := s.node.List()
	if all == nil {
		all = []Summary{}
	}
	writeJSON(w, http.StatusOK, map[string][]Summary{"pipelines": all})
	return nil
}

// named runs f on the pipeline that the path names.
func named(r *http.Request, f func(name string) error) error {
	name := r.PathValue("name")
	if err := CheckName(name); err != nil {
		return err
	}
	return f(name)
}

// answer sends a status: 202 while the pipeline is still on its way.
func answer(w http.ResponseWriter, st *Status, err error) error {
	if err != nil {
		return err
	}
	code := http.StatusOK
	if st.State == Starting || st.State == Stopping {
		code = http.StatusAccepted
	}
	writeJSON(w, code, st)
	return nil
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		st, err := s.node.Status(name)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, st)
		return nil
	})
}

func (s *Server) deploy(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		reset, err := truth(r, "reset")
		if err != nil {
			return err
		}
		b, err := readBundle(w, r)
		if err != nil {
			return err
		}
		st, err := s.node.Deploy(r.Context(), name, b, reset)
		return answer(w, st, err)
	})
}

func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		b, err := readBundle(w, r)
		if err != nil {
			return err
		}
		c, err := s.node.Compare(r.Context(), name, b)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, c)
		return nil
	})
}

// ModuleRef names a module by its digest.
type ModuleRef struct {
	Module string `json:"module"`
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		ref := &ModuleRef{}
		if err := readJSON(w, r, "a reference to a module", ref); err != nil {
			return err
		}
		if err := CheckDigest(ref.Module); err != nil {
			return err
		}
		st, err := s.node.Reload(r.Context(), name, r.PathValue("plugin"), ref.Module)
		return answer(w, st, err)
	})
}

func (s *Server) start(w http.ResponseWriter, r *http.Request) error {
	return s.move(w, r, s.node.Start)
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) error {
	return s.move(w, r, s.node.Stop)
}

func (s *Server) move(w http.ResponseWriter, r *http.Request, f func(context.Context, string) (*Status, error)) error {
	return named(r, func(name string) error {
		st, err := f(r.Context(), name)
		return answer(w, st, err)
	})
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		state, err := truth(r, "state")
		if err != nil {
			return err
		}
		if err := s.node.Delete(r.Context(), name, state); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

// maxLogLines is how many lines of a log may be asked for.
const maxLogLines = 10_000

// logs answers with one JSON object a line, and with follow goes on for as long as the client listens.
func (s *Server) logs(w http.ResponseWriter, r *http.Request) error {
	return named(r, func(name string) error {
		follow, err := truth(r, "follow")
		if err != nil {
			return err
		}
		n := 100
		if text := r.URL.Query().Get("lines"); text != "" {
			if n, err = strconv.Atoi(text); err != nil || n < 0 || n > maxLogLines {
				return fmt.Errorf("%w: parameter lines: want a number from 0 to %d", ErrInvalid, maxLogLines)
			}
		}
		if _, err := s.node.Status(name); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusOK)
		rc := http.NewResponseController(w)
		_ = rc.Flush()
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		// The header is out: an error can only end the answer.
		_ = s.node.Logs(r.Context(), name, n, follow, func(l LogLine) error {
			if err := enc.Encode(l); err != nil {
				return err
			}
			return rc.Flush()
		})
		return nil
	})
}

func (s *Server) hasModule(w http.ResponseWriter, r *http.Request) error {
	digest := r.PathValue("digest")
	if err := CheckDigest(digest); err != nil {
		return err
	}
	has, err := s.node.HasModule(digest)
	switch {
	case err != nil:
		return err
	case !has:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusOK)
	}
	return nil
}

func (s *Server) putModule(w http.ResponseWriter, r *http.Request) error {
	digest := r.PathValue("digest")
	if err := CheckDigest(digest); err != nil {
		return err
	}
	if r.ContentLength > MaxModuleBytes {
		return fmt.Errorf("%w: the module has %d bytes, more than %d", ErrTooLarge, r.ContentLength, MaxModuleBytes)
	}
	if err := s.node.PutModule(digest, http.MaxBytesReader(w, r.Body, MaxModuleBytes)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
