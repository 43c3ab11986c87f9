package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peerVersion is the version of onnxruntime-node that is measured.
const peerVersion = "1.30.0"

//go:embed peer.js
var peerScript []byte

// A peer is where onnxruntime-node lies: the program that drives it, and the folder of
// the package.
type peer struct{ driver, module string }

// install puts onnxruntime-node into the cache, by npm, unless it is there.
func install(cache string) (p peer, err error) {
	folder, err := filepath.Abs(filepath.Join(cache, "onnxruntime-node-"+peerVersion))
	if err != nil {
		return peer{}, err
	}
	p = peer{filepath.Join(folder, "peer.js"), filepath.Join(folder, "node_modules", "onnxruntime-node")}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return peer{}, err
	}
	if err := os.WriteFile(p.driver, peerScript, 0o666); err != nil {
		return peer{}, err
	}
	if _, err := os.Stat(filepath.Join(p.module, "package.json")); err == nil {
		return p, nil
	}
	list, err := json.Marshal(map[string]any{"private": true, "dependencies": map[string]string{"onnxruntime-node": peerVersion}})
	if err != nil {
		return peer{}, err
	}
	if err := os.WriteFile(filepath.Join(folder, "package.json"), list, 0o666); err != nil {
		return peer{}, err
	}
	// Its install script would fetch CUDA; the code for the CPU is in the package.
	npm := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = folder
	if out, err := npm.CombinedOutput(); err != nil {
		return peer{}, fmt.Errorf("npm install onnxruntime-node@%s: %w\n%s", peerVersion, err, out)
	}
	return p, nil
}
