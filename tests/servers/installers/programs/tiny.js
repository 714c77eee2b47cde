#!/usr/bin/env node
// A server without dependencies: one tool that tells the version it was installed as, its arguments and variables.
const fs = require("node:fs");
const path = require("node:path");
const version = JSON.parse(fs.readFileSync(path.join(__dirname, "package.json"))).version;
const tool = { name: "tell", inputSchema: { type: "object" } };

function answer(message) {
  const { method, params } = message;
  if (method === "initialize") {
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "tiny", version },
    };
  }
  if (method === "tools/list") return { tools: [tool] };
  if (method === "tools/call") {
    const told = { version, args: process.argv.slice(2), env: process.env };
    return { content: [{ type: "text", text: JSON.stringify(told) }] };
  }
  return null;
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined) return;
  const result = answer(message);
  const rest = result ? { result } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...rest }) + "\n");
});
