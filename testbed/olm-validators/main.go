// Runs the static validators of the Operator Framework over a bundle, and prints what they say as JSON.
//
//	olm-validators FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
	interfaces "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/sirupsen/logrus"
)

type finding struct {
	Suite  string `json:"suite"`
	Level  string `json:"level"`
	Type   string `json:"type"`
	Field  string `json:"field,omitempty"`
	Detail string `json:"detail"`
}

type suite struct {
	name       string
	validators interfaces.Validators
}

// The names are those of our own suites.
var suites = []suite{
	{"default", validation.DefaultBundleValidators},
	{"operatorhub", interfaces.Validators{validation.OperatorHubV2Validator}},
	{"capabilities", interfaces.Validators{validation.StandardCapabilitiesValidator}},
	{"categories", interfaces.Validators{validation.StandardCategoriesValidator}},
	{"objects", interfaces.Validators{validation.ObjectValidator}},
	{"alpha-deprecated-apis", interfaces.Validators{validation.AlphaDeprecatedAPIsValidator}},
	{"good-practices", interfaces.Validators{validation.GoodPracticesValidator}},
}

func main() {
	logrus.SetLevel(logrus.PanicLevel)
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: olm-validators FOLDER")
		os.Exit(2)
	}
	found, err := judge(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(folder string) ([]finding, error) {
	found := []finding{}
	bundle, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		// What can't be loaded is refused before any validator runs.
		return append(found, finding{Suite: "load", Level: "Error", Detail: err.Error()}), nil
	}
	for _, suite := range suites {
		found = append(found, suite.judge(bundle)...)
	}
	return found, nil
}

// Some bundles make a validator panic. They don't pass it.
func (s suite) judge(bundle *manifests.Bundle) (found []finding) {
	defer func() {
		if panicked := recover(); panicked != nil {
			found = append(found, finding{Suite: s.name, Level: "Error", Type: "Panic", Detail: fmt.Sprint(panicked)})
		}
	}()
	for _, result := range s.validators.Validate(bundle.ObjectsToValidate()...) {
		for _, all := range [][]errors.Error{result.Errors, result.Warnings} {
			for _, each := range all {
				found = append(found, finding{s.name, string(each.Level), string(each.Type), each.Field, each.Detail})
			}
		}
	}
	return found
}
