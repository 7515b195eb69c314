// Command chart renders a Helm chart as `helm template` does, and checks each manifest against the
// types of Kubernetes' API: an unknown field or a value of another type is an error.
//
//	chart [--values FILE]... [--release NAME] [--namespace NAME] DIR
//
// It prints the manifests as one JSON array, and the notes for the user as its last element, a
// string. The values are checked by the chart's values.schema.json first.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// kinds are the manifests that the chart may have, by apiVersion and kind. The types of operators,
// such as ServiceMonitor, are not part of Kubernetes' API and are not checked.
var kinds = map[string]func() any{
	"apps/v1 StatefulSet":                     func() any { return new(apps.StatefulSet) },
	"apps/v1 Deployment":                      func() any { return new(apps.Deployment) },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() any { return new(autoscaling.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return new(networking.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":           func() any { return new(policy.PodDisruptionBudget) },
	"v1 ConfigMap":                            func() any { return new(core.ConfigMap) },
	"v1 Secret":                               func() any { return new(core.Secret) },
	"v1 Service":                              func() any { return new(core.Service) },
	"v1 ServiceAccount":                       func() any { return new(core.ServiceAccount) },
	"monitoring.coreos.com/v1 ServiceMonitor": nil,
	"monitoring.coreos.com/v1 PrometheusRule": nil,
}

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	var files list
	flag.Var(&files, "values", "YAML `file` with values; may repeat, and a later one takes precedence")
	release := flag.String("release", "geo", "name of the release")
	namespace := flag.String("namespace", "default", "namespace of the release")
	flag.Parse()
	if err := run(os.Stdout, flag.Arg(0), files, *release, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(to io.Writer, dir string, files []string, release, namespace string) error {
	values := map[string]any{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		more := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &more); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		values = loader.MergeMaps(values, more)
	}
	c, err := loader.Load(dir)
	if err != nil {
		return err
	}
	options := common.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(c, values, options, common.DefaultCapabilities)
	if err != nil {
		return err
	}
	rendered, err := engine.Engine{Strict: true}.RenderWithContext(context.Background(), c, all)
	if err != nil {
		return err
	}
	var manifests []any
	notes := ""
	names := make([]string, 0, len(rendered))
	for name := range rendered {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case path.Base(name) == "NOTES.txt":
			notes = rendered[name]
		case !strings.HasPrefix(path.Base(name), "_"):
			found, err := decode(rendered[name])
			if err != nil {
				return fmt.Errorf("%s: %w\n%s", name, err, rendered[name])
			}
			manifests = append(manifests, found...)
		}
	}
	return json.NewEncoder(to).Encode(append(manifests, notes))
}

// decode returns the manifests of a rendered file.
func decode(text string) (manifests []any, err error) {
	for document := range strings.SplitSeq("\n"+text, "\n---") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var manifest map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &manifest); err != nil { // a key twice is an error
			return nil, err
		}
		if manifest == nil { // comments alone
			continue
		}
		kind := fmt.Sprintf("%v %v", manifest["apiVersion"], manifest["kind"])
		typed, ok := kinds[kind]
		if !ok {
			return nil, errors.New("the kind " + kind + " is not in the list of this program")
		}
		if typed != nil {
			text, err := json.Marshal(manifest)
			if err != nil {
				return nil, err
			}
			strict := json.NewDecoder(bytes.NewReader(text))
			strict.DisallowUnknownFields()
			if err := strict.Decode(typed()); err != nil {
				return nil, fmt.Errorf("%s: %w", kind, err)
			}
		}
		manifests = append(manifests, manifest)
	}
	return manifests, nil
}
