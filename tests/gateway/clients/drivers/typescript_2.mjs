// Drives the client of the TypeScript SDK 2.x; `test_real_clients.py` says what is told about it.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { use } from './typescript_use.mjs';

const [, , mode, key, ...target] = process.argv;
const client = new Client(
    { name: 'typescript-2', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } }
);
const heard = { questions: [], changes: 0 };

client.setRequestHandler('elicitation/create', request => {
    heard.questions.push(request.params.message);
    return { action: 'accept', content: { name: 'Ada' } };
});
client.setNotificationHandler('notifications/tools/list_changed', () => {
    heard.changes += 1;
});

const transport = target[0].startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1) });
await client.connect(transport);
const subscription = mode === 'legacy' ? undefined : await client.listen({ toolsListChanged: true });
await use({
    client,
    heard,
    key,
    version: client.getNegotiatedProtocolVersion(),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options)
});
await subscription?.close();
await client.close();
