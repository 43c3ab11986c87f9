// node peer.js MODULE MODEL THREADS: holds the model of a network in ONNX Runtime
// and does what standard input says, a command a line; session.go has the other end.
const fs = require('fs');
const path = require('path');
const readline = require('readline');

const [, , module_, model, threads] = process.argv;
const ort = require(module_);

const now = () => Number(process.hrtime.bigint()) / 1e9;
const say = (value) => process.stdout.write(JSON.stringify(value) + '\n');

async function main() {
  const input = JSON.parse(process.env.BENCH_INPUT);
  const begin = now();
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableCpuMemArena: true,
    enableMemPattern: true,
    logSeverityLevel: 3,
  });
  const load = now() - begin;
  const raw = fs.readFileSync(path.join(path.dirname(model), 'x.bin'));
  const feeds = { x: new ort.Tensor('float32', new Float32Array(raw.buffer, raw.byteOffset, raw.byteLength / 4), input) };
  let result = await session.run(feeds);

  const commands = {
    async run(count) {
      const start = now();
      for (let i = 0; i < count; i++) result = await session.run(feeds);
      return { seconds: now() - start };
    },
    async save(file) {
      const y = result.y.data;
      fs.writeFileSync(file, Buffer.from(y.buffer, y.byteOffset, y.byteLength));
      return {};
    },
  };
  say({ load, version: require(path.join(module_, 'package.json')).version });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [name, argument] = JSON.parse(line);
    say(await commands[name](argument));
  }
}

main().catch((e) => { say({ error: String(e) }); process.exit(1); });
