// Serves a validator and a defaulter of Pods with controller-runtime, as an operator in Go would: typed objects, a few
// rules, its usual server and metrics. The benchmark sends it what it sends to ours.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type pods struct{}

var _ admission.Validator[*corev1.Pod] = pods{}
var _ admission.Defaulter[*corev1.Pod] = pods{}

// Default names the team of a Pod and how its images are pulled.
func (pods) Default(_ context.Context, pod *corev1.Pod) error {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	if _, named := pod.Labels["team"]; !named {
		pod.Labels["team"] = "nobody"
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].ImagePullPolicy == "" {
			pod.Spec.Containers[i].ImagePullPolicy = corev1.PullIfNotPresent
		}
	}
	return nil
}

func (pods) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, judge(pod)
}

func (pods) ValidateUpdate(_ context.Context, _, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, judge(pod)
}

func (pods) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func judge(pod *corev1.Pod) error {
	var found field.ErrorList
	spec := field.NewPath("spec")
	if pod.Spec.HostNetwork {
		found = append(found, field.Forbidden(spec.Child("hostNetwork"), "Pods don't share the node's network"))
	}
	seen := map[string]bool{}
	for i, container := range pod.Spec.Containers {
		path := spec.Child("containers").Index(i)
		if seen[container.Name] {
			found = append(found, field.Duplicate(path.Child("name"), container.Name))
		}
		seen[container.Name] = true
		if !strings.Contains(container.Image, ":") {
			found = append(found, field.Invalid(path.Child("image"), container.Image, "must have a tag"))
		}
		for _, variable := range container.Env {
			if variable.Value != "" && variable.ValueFrom != nil {
				at := path.Child("env").Key(variable.Name)
				found = append(found, field.Invalid(at, variable.Name, "must not have both value and valueFrom"))
			}
		}
	}
	return found.ToAggregate()
}

func serve() error {
	port := flag.Int("port", 9443, "the port of the webhooks")
	certificates := flag.String("cert-dir", "", "the directory with tls.crt and tls.key")
	flag.Parse()
	if *certificates == "" {
		return errors.New("--cert-dir must be given")
	}
	log.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certificates})
	server.Register("/validate--v1-pod", admission.WithValidator(scheme, pods{}))
	server.Register("/mutate--v1-pod", admission.WithDefaulter(scheme, pods{}))
	return server.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
