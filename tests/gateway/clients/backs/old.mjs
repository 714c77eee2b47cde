// A server of the older era, as people write them with the TypeScript SDK 1.x.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'old', version: '1' });
const fates = new Map();
const counting = new Map();
const say = text => ({ content: [{ type: 'text', text }] });

server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => say(text));

// Ends when somebody says that the progress arrived: told at the end alone, it would be of no use.
server.registerTool('count', { inputSchema: { to: z.number(), key: z.string() } }, async ({ to, key }, extra) => {
    for (let progress = 1; progress <= to; progress++) {
        const params = { progressToken: extra._meta.progressToken, progress, total: to };
        await extra.sendNotification({ method: 'notifications/progress', params });
    }
    await new Promise(resolve => counting.set(key, resolve));
    return say(`counted to ${to}`);
});

server.registerTool('enough', { inputSchema: { key: z.string() } }, ({ key }) => {
    counting.get(key)();
    return say('thanks');
});

server.registerTool('wait', { inputSchema: { key: z.string() } }, ({ key }, extra) => {
    fates.set(key, 'started');
    return new Promise(resolve => {
        extra.signal.addEventListener('abort', () => {
            fates.set(key, 'cancelled');
            resolve(say('cancelled'));
        });
    });
});

server.registerTool('fate', { inputSchema: { key: z.string() } }, ({ key }) => say(fates.get(key) ?? 'unknown'));

server.registerTool('greet', {}, async () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const answer = await server.server.elicitInput({ message: 'Who are you?', requestedSchema });
    return say(`Hello ${answer.content?.name ?? answer.action}`);
});

server.registerTool('grow', { inputSchema: { name: z.string() } }, ({ name }) => {
    server.registerTool(name, {}, () => say(name));
    return say('grown');
});

server.registerResource('note', 'note://old', {}, uri => ({ contents: [{ uri: uri.href, text: 'the note of old' }] }));

server.registerPrompt('review', { argsSchema: { title: z.string() } }, ({ title }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${title}.` } }]
}));

await server.connect(new StdioServerTransport());
