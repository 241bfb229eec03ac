// What alerts Prometheus would fire: evaluates a file of alerting rules against series that a test makes up. Reads the
// tests as JSON from standard input, and prints for each test and moment the alerts that fire, with their texts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// How often series have a sample and rules are evaluated.
const interval = time.Minute

// Tests of one file of rules.
type input struct {
	Rules string `json:"rules"`
	Tests []test `json:"tests"`
}

// One test: series and their values in Prometheus' notation for tests, and the moments that matter, in order.
type test struct {
	Series map[string]string `json:"series"`
	At     []model.Duration  `json:"at"`
}

type alert struct {
	Labels      labels.Labels `json:"labels"`
	Annotations labels.Labels `json:"annotations"`
}

func main() {
	var in input
	err := json.NewDecoder(os.Stdin).Decode(&in)
	fired := make([][][]alert, len(in.Tests))
	for i := 0; err == nil && i < len(in.Tests); i++ {
		fired[i], err = in.Tests[i].run(in.Rules)
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(fired)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "alerts:", err)
		os.Exit(1)
	}
}

// run evaluates the rules minute by minute, and gives the alerts of each moment.
func (t test) run(file string) ([][]alert, error) {
	language := parser.NewParser(parser.Options{})
	loading := fmt.Sprintf("load %s\n", model.Duration(interval))
	for series, values := range t.Series {
		loading += fmt.Sprintf("  %s %s\n", series, values)
	}
	loader, err := promqltest.NewLazyLoader(loading, promqltest.LazyLoaderOpts{Parser: language})
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	manager := rules.NewManager(&rules.ManagerOptions{
		Context:      loader.Context(),
		QueryFunc:    rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()),
		AppendableV2: loader.Storage(),
		NotifyFunc:   func(context.Context, string, ...*rules.Alert) {},
		Logger:       promslog.NewNopLogger(),
		Parser:       language,
	})
	groups, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, file)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	fired := make([][]alert, len(t.At))
	if len(t.At) == 0 {
		return fired, nil
	}
	var failed error
	last := time.Duration(slices.Max(t.At))
	for elapsed := time.Duration(0); elapsed <= last && failed == nil; elapsed += interval {
		now := time.Unix(0, 0).UTC().Add(elapsed)
		loader.WithSamplesTill(now, func(err error) {
			if failed = err; err == nil {
				failed = evaluate(loader.Context(), groups, now)
			}
		})
		for i, at := range t.At {
			if time.Duration(at) == elapsed {
				fired[i] = firing(groups)
			}
		}
	}
	return fired, failed
}

func evaluate(ctx context.Context, groups map[string]*rules.Group, now time.Time) error {
	for _, group := range groups {
		group.Eval(ctx, now)
		for _, rule := range group.Rules() {
			if err := rule.LastError(); err != nil {
				return fmt.Errorf("%s at %s: %w", rule.Name(), now, err)
			}
		}
	}
	return nil
}

func firing(groups map[string]*rules.Group) []alert {
	alerts := []alert{}
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			for _, active := range rule.ActiveAlerts() {
				if active.State == rules.StateFiring {
					alerts = append(alerts, alert{Labels: active.Labels, Annotations: active.Annotations})
				}
			}
		}
	}
	return alerts
}
