// Drives the client of the TypeScript SDK 1.x; `test_real_clients.py` says what is told about it.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { use } from './typescript_use.mjs';

const [, , , key, ...target] = process.argv;
const client = new Client({ name: 'typescript-1', version: '1' }, { capabilities: { elicitation: { form: {} } } });
const heard = { questions: [], changes: 0 };

client.setRequestHandler(ElicitRequestSchema, request => {
    heard.questions.push(request.params.message);
    return { action: 'accept', content: { name: 'Ada' } };
});
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    heard.changes += 1;
});

const transport = target[0].startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1) });
let version;
const setVersion = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = agreed => {
    version = agreed;
    setVersion?.(agreed);
};
await client.connect(transport);
await use({
    client,
    heard,
    key,
    version,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
});
await transport.terminateSession?.();
await client.close();
