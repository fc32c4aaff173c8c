package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"

	"github.com/bough-dev/bough/workspace/fault"
)

const whereCredentials = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials"

const (
	// metadataTimeout limits a request for credentials to the services of a machine at AWS.
	metadataTimeout = 5 * time.Second

	// profileTimeout limits a request of a profile that is for single sign-on.
	profileTimeout = time.Minute
)

// findCredentials returns the credentials of the environment, of a profile in the files of AWS, or,
// on a machine at AWS, of its role; and says where they are from. It asks no service.
func findCredentials(ctx context.Context) (c *credentials.Credentials, source string, err error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID") != "", os.Getenv("AWS_SECRET_ACCESS_KEY") != ""
	switch {
	case id && secret:
		return credentials.NewEnvAWS(), "AWS_ACCESS_KEY_ID", nil
	case id || secret:
		return nil, "", &fault.Error{Code: fault.Usage, Message: "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set", Hint: "set both or none"}
	}
	role := credentials.New(&credentials.IAM{Client: &http.Client{Timeout: metadataTimeout, Transport: &http.Transport{}}})
	if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		return role, "AWS_WEB_IDENTITY_TOKEN_FILE", nil
	}
	if c, err := fromProfile(ctx); c != nil || err != nil {
		return c, "the profile " + profileName(), err
	}
	if os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" {
		return role, "the role of the container", nil
	}
	if onEC2() {
		return role, "the role of the machine", nil
	}
	return nil, "", &fault.Error{Code: fault.Refused, Message: "no credentials for the store", Hint: whereCredentials}
}

// onEC2 reports whether this machine is one of AWS, by what its firmware says: on another machine,
// a request for the role would wait for a service that does not answer.
func onEC2() bool {
	if strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return false
	}
	vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor")
	return err == nil && strings.TrimSpace(string(vendor)) == "Amazon EC2"
}

func profileName() string {
	if name := os.Getenv("AWS_PROFILE"); name != "" {
		return name
	}
	return "default"
}

// fromProfile returns the credentials of the profile. If there is no profile, or it has none, it
// returns nil, unless AWS_PROFILE names it.
func fromProfile(ctx context.Context) (*credentials.Credentials, error) {
	refuse := func(why, hint string, err error) error {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the AWS profile %q %s", profileName(), why), Hint: hint, Err: err}
	}
	missing := func(why string) error {
		if os.Getenv("AWS_PROFILE") == "" {
			return nil
		}
		return refuse(why, "correct AWS_PROFILE, or "+whereCredentials, nil)
	}
	sections, err := profileSections()
	switch {
	case err != nil:
		return nil, err
	case len(sections) == 0:
		return nil, missing("does not exist")
	case valueOf(sections, "role_arn") != "":
		return nil, refuse("assumes a role, which is not supported", "'aws configure export-credentials' prints credentials for the environment", nil)
	}
	c := credentials.New(&credentials.FileAWSCredentials{})
	value, err := c.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: profileTimeout}, Context: ctx})
	switch {
	case err != nil:
		return nil, refuse("cannot be used: "+err.Error(), whereCredentials, err)
	case value.AccessKeyID == "" || value.SecretAccessKey == "":
		return nil, missing("has no credentials")
	}
	return c, nil
}

// profileSections returns the sections of the profile in the files of AWS: that of the credentials
// first. Its error does not repeat what a file has.
func profileSections() (list []*ini.Section, err error) {
	for _, file := range []struct{ variable, name, prefix string }{
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
		{"AWS_CONFIG_FILE", "config", "profile "},
	} {
		path := os.Getenv(file.variable)
		if path == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				continue
			}
			path = filepath.Join(home, ".aws", file.name)
		}
		content, err := ini.Load(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			if _, ok := errors.AsType[*fs.PathError](err); ok {
				return nil, err
			}
			return nil, &fault.Error{Code: fault.Refused, Message: path + " is malformed", Hint: "correct the file, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"}
		}
		section, err := content.GetSection(file.prefix + profileName())
		if err != nil && profileName() == "default" {
			section, err = content.GetSection("default") // which needs no prefix
		}
		if err == nil {
			list = append(list, section)
		}
	}
	return list, nil
}

// valueOf returns a setting of a profile, "" if it is not set.
func valueOf(sections []*ini.Section, key string) string {
	for _, section := range sections {
		if section.HasKey(key) {
			return section.Key(key).String()
		}
	}
	return ""
}

// findRegion returns the region that the environment or the profile has, "" if neither has one.
func findRegion() string {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := os.Getenv(name); region != "" {
			return region
		}
	}
	sections, err := profileSections()
	if err != nil {
		return "" // the credentials are not those of the profile
	}
	return valueOf(sections, "region")
}
