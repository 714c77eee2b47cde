// Preloaded into a server that would ask the internet: each of its requests gets OFFLINE_ANSWER, and none goes out.
globalThis.fetch = async () =>
  new Response(process.env.OFFLINE_ANSWER, { headers: { "content-type": "application/json" } });
