// Answers one request of an API server for `kubectl port-forward`, with the code that kubelet and containerd have for it.
// Standard input is the connection. The process stands in the network namespace of the Pod.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
)

func main() {
	connection, err := net.FileConn(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(&single{connection}, http.HandlerFunc(serve)))
}

// A listener with one connection.
type single struct{ connection net.Conn }

// Accept gives the connection, and then waits for ever: the node ends the process.
func (s *single) Accept() (net.Conn, error) {
	for s.connection == nil {
		time.Sleep(time.Hour)
	}
	connection := s.connection
	s.connection = nil
	return connection, nil
}

func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.UnixAddr{} }

func serve(w http.ResponseWriter, r *http.Request) {
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	creation, protocols := remotecommand.DefaultStreamCreationTimeout, portforward.SupportedProtocols
	portforward.ServePortForward(w, r, pod{}, "", "", options, 0, creation, protocols)
}

type pod struct{}

// PortForward copies between a stream and a port of the Pod, as containerd does.
func (pod) PortForward(_ context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	socket, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer socket.Close()
	go func() {
		io.Copy(socket, stream)
		socket.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, socket)
	return err
}
