package wgate

import "errors"

// Config is the plugin's configuration, a JSON object. A field that is absent or null gives the default; one of another
// type is an error that refuses the plugin.
type Config struct {
	text []byte
	err  error
}

// find returns a Scanner at field name. Of a name that occurs twice the last one counts.
func (c *Config) find(name string) (Scanner, bool) {
	s := Scan(c.text)
	var hit Scanner
	found := false
	for s.Next() {
		if string(s.Name()) == name {
			hit, found = s, s.Kind() != NullKind
		}
	}
	return hit, found
}

func (c *Config) wrong(name, want string) {
	if c.err == nil {
		c.err = errors.New("config." + name + " must be " + want)
	}
}

// Int returns an integer field.
func (c *Config) Int(name string, def int64) int64 {
	s, ok := c.find(name)
	if !ok {
		return def
	}
	v, ok := s.Int()
	if !ok {
		c.wrong(name, "an int")
	}
	return v
}

// Float returns a number.
func (c *Config) Float(name string, def float64) float64 {
	s, ok := c.find(name)
	if !ok {
		return def
	}
	v, ok := s.Float()
	if !ok {
		c.wrong(name, "a number")
	}
	return v
}

// String returns a string.
func (c *Config) String(name, def string) string {
	s, ok := c.find(name)
	if !ok {
		return def
	}
	v, ok := s.Text()
	if !ok {
		c.wrong(name, "a string")
	}
	return string(v)
}

// Bool returns a bool.
func (c *Config) Bool(name string, def bool) bool {
	s, ok := c.find(name)
	if !ok {
		return def
	}
	v, ok := s.Bool()
	if !ok {
		c.wrong(name, "a bool")
	}
	return v
}

// JSON returns the whole configuration as JSON text, empty if there is none.
func (c *Config) JSON() []byte { return c.text }
