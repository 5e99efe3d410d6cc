// Prints IDs from a server, one per line: go run . one|json|bytes|many NAME N URL...
//
// The variable FLAKEFORGE_TOKEN is the token, if the server requires one. FLAKEFORGE_CA is a file with the CA of an https
// server; FLAKEFORGE_CERT and FLAKEFORGE_KEY name a client certificate.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 5 {
		log.Fatal("usage: go run . one|json|bytes|many NAME N URL...")
	}
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	ids := NewIDs(os.Args[4:], os.Args[2])
	ids.Token = os.Getenv("FLAKEFORGE_TOKEN")
	if ca := os.Getenv("FLAKEFORGE_CA"); ca != "" {
		transport, err := withTLS(ca, os.Getenv("FLAKEFORGE_CERT"), os.Getenv("FLAKEFORGE_KEY"))
		if err != nil {
			log.Fatal(err)
		}
		ids.HTTP.Transport = transport
	}
	out := bufio.NewWriter(os.Stdout)
	err = print(out, ids, os.Args[1], n)
	out.Flush()
	if err != nil {
		log.Fatal(err)
	}
}

// withTLS trusts only this CA. The certificate and its key may be "" if the server requires none.
func withTLS(ca, cert, key string) (*http.Transport, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificate", ca)
	}
	if cert != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	return transport, nil
}

func print(out *bufio.Writer, ids *IDs, how string, n int) error {
	ctx := context.Background()
	switch how {
	case "one":
		id, err := ids.Next(ctx)
		if err == nil {
			fmt.Fprintln(out, id)
		}
		return err
	case "json":
		return printJSON(out, ids, n)
	case "bytes":
		batch, err := ids.Fetch(ctx, n)
		for _, id := range batch {
			fmt.Fprintln(out, id)
		}
		return err
	default:
		return printMany(out, ids, n)
	}
}

// In JSON the IDs are decimal strings: other languages would round numbers.
func printJSON(out *bufio.Writer, ids *IDs, n int) error {
	_, body, err := ids.Post(context.Background(), ids.urls[0], n, "application/json")
	if err != nil {
		return err
	}
	var answer struct{ IDs []string }
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	for _, id := range answer.IDs {
		fmt.Fprintln(out, id)
	}
	return nil
}

// printMany: n IDs taken by four goroutines from one client.
func printMany(out *bufio.Writer, ids *IDs, n int) error {
	var mu sync.Mutex
	var work sync.WaitGroup
	failed := make(chan error, 4)
	for i := 0; i < 4; i++ {
		work.Add(1)
		go func() {
			defer work.Done()
			for j := 0; j < n/4; j++ {
				id, err := ids.Next(context.Background())
				if err != nil {
					failed <- err
					return
				}
				mu.Lock()
				fmt.Fprintln(out, id)
				mu.Unlock()
			}
		}()
	}
	work.Wait()
	close(failed)
	return <-failed
}
