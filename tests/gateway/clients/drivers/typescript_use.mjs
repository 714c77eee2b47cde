// What both TypeScript drivers do once they are connected: the same calls, which differ only in how one is made.

const soon = () => new Promise(resolve => setTimeout(resolve, 10));
const tell = (about, what, value) => console.log(JSON.stringify([about, what, value]));

export async function use({ client, heard, key, version, call }) {
    tell('session', 'server', client.getServerVersion().name);
    tell('session', 'version', version);
    for (const back of ['old', 'new']) {
        await useBack({ client, heard, key, call }, back);
    }
}

async function useBack({ client, heard, key, call }, back) {
    const text = async (tool, args, options) => (await call(`${back}__${tool}`, args, options)).content[0].text;
    const names = async () => {
        const { tools } = await client.listTools();
        const found = tools.map(tool => tool.name).filter(name => name.startsWith(`${back}__`));
        // A server that is still starting has none yet.
        return found.length ? found.sort() : soon().then(names);
    };

    tell(back, 'tools', await names());
    tell(back, 'result', await text('echo', { text: 'héllo' }));
    tell(back, 'progress', await count(text, key));
    tell(back, 'fate', await cancel(text, key));
    tell(back, 'greeting', await text('greet', {}));
    tell(back, 'question', heard.questions.pop());
    tell(back, 'resource', (await client.readResource({ uri: `note://${back}` })).contents[0].text);
    const prompt = await client.getPrompt({ name: `${back}__review`, arguments: { title: 'Ulysses' } });
    tell(back, 'prompt', prompt.messages[0].content.text);
    tell(back, 'change', await grow(text, names, heard, `${back}__`, key));
}

async function count(text, key) {
    const seen = [];
    const onprogress = ({ progress, total }) => {
        seen.push(progress);
        if (progress === total) text('enough', { key });
    };
    await text('count', { to: 3, key }, { onprogress });
    return seen;
}

async function cancel(text, key) {
    const giveUp = new AbortController();
    const waiting = text('wait', { key }, { signal: giveUp.signal }).catch(() => undefined);
    while ((await text('fate', { key })) !== 'started') await soon();
    giveUp.abort('enough');
    await waiting;
    let fate = 'started';
    while (fate === 'started') fate = await text('fate', { key });
    return fate;
}

async function grow(text, names, heard, prefix, key) {
    const before = heard.changes;
    await text('grow', { name: key });
    while (heard.changes === before) await soon();
    while (!(await names()).includes(prefix + key)) await soon();
    return true;
}
