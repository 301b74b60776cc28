package main

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/scenario"
)

// The elements of JUnit's format, as far as tools read them.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure,omitempty"`
	Error   *junitProblem `xml:"error,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes a report as XML: a suite for each file; a scenario that could not be run is an error.
func junit(r *scenario.Report) []byte {
	all := junitSuites{Name: "wgate test"}
	for i := range r.Files {
		f := &r.Files[i]
		s := junitSuite{Name: f.Path}
		if f.Unreadable {
			s.Cases = append(s.Cases, junitCase{
				Name: "the file can be read", Class: f.Path, File: f.Path, Time: "0.000",
				Error: &junitProblem{Message: "the file cannot be read", Text: diagnosticLines(f.Diagnostics)},
			})
		}
		total := int64(0)
		for k := range f.Scenarios {
			s.Cases = append(s.Cases, junitScenario(&f.Scenarios[k]))
			total += f.Scenarios[k].Millis
		}
		for k := range s.Cases {
			s.Tests++
			if s.Cases[k].Failure != nil {
				s.Failures++
			}
			if s.Cases[k].Error != nil {
				s.Errors++
			}
		}
		s.Time = seconds(total)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
		all.Suites = append(all.Suites, s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil // these types can always be written
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}

func junitScenario(s *scenario.Result) junitCase {
	c := junitCase{Name: s.Name, Class: s.File, File: s.File, Line: s.Line, Time: seconds(s.Millis)}
	switch s.Outcome {
	case scenario.Failed:
		var b strings.Builder
		failureText(&printer{w: &b}, s.Failure)
		c.Failure = &junitProblem{Message: s.Failure.Message, Text: b.String()}
	case scenario.NotRun:
		text := s.Reason
		if text == "" {
			text = diagnosticLines(s.Diagnostics)
		}
		c.Error = &junitProblem{Message: "the scenario could not be run", Text: text}
	case scenario.Passed:
	}
	return c
}

func seconds(millis int64) string { return fmt.Sprintf("%d.%03d", millis/1000, millis%1000) }

// diagnosticLines writes diagnostics one a line, for reports that have no room for more.
func diagnosticLines(diags []config.Diagnostic) string {
	var b strings.Builder
	for _, d := range diags {
		if d.Range != nil {
			fmt.Fprintf(&b, "%s:%d: ", d.File, d.Range.Start.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", d.Summary, d.Detail)
	}
	return b.String()
}
