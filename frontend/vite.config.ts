/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv, type Plugin, type Rolldown } from "vite";

/** The script of `index.html` that the page waits for. */
const BLOCKING = "theme.js";
/** What the first view of a page shows beside `Page.tsx`, in this order: at its own address, inside it, and at an address
 * in it. */
const SHOWN: Record<string, readonly string[]> = {
  workflows: ["workflows/list/WorkflowList.tsx"],
  "chat/new": ["chat/Page.tsx"],
  "chat/": ["chat/Page.tsx", "chat/Thread.tsx"],
  "servers/": ["server/Page.tsx"],
  "workflows/": ["workflows/Page.tsx", "workflows/editor/Editor.tsx", "workflows/canvas/Canvas.tsx"],
};

// The page is built into the Python package, without source maps; `npm run dev` asks a host that runs.
export default defineConfig(({ mode }) => ({
  plugins: [react(), filesOfRoutes()],
  build: {
    outDir: "../src/toolcrib/web/static",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // Few files: a browser asks for six at once, and each round costs the latency of the line.
        codeSplitting: {
          groups: [
            { name: "shell", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 700 },
          ],
        },
      },
    },
  },
  // One thread for all tests: a new one for each file takes three times the work, and they share nothing they change.
  test: { pool: "threads", isolate: false, maxWorkers: 1 },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": loadEnv(mode, ".", "TOOLCRIB_")["TOOLCRIB_ADDRESS"] ?? "http://127.0.0.1:4180" },
  },
}));

/** Writes `routes.json`: the files that each route needs. The host names them in the answer with the page, so that the
 *  browser fetches all of them at once instead of those of the page after the first ones. They are in the order in which
 *  they are wanted: what is shown last may still be loading while the page asks for its data. */
function filesOfRoutes(): Plugin {
  return {
    name: "files-of-routes",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const entry = chunks.find((chunk) => chunk.isEntry);
      const routes: Record<string, string[]> = {};
      const add = (route: string, modules: readonly string[]) => {
        const shown = modules.map((module) =>
          chunks.find((chunk) => chunk.facadeModuleId?.endsWith(`/src/pages/${module}`)),
        );
        const files = new Set([BLOCKING]);
        for (const chunk of [entry, ...shown]) if (chunk) filesOf(chunk, bundle).forEach((file) => files.add(file));
        routes[route] = [...files];
      };
      for (const chunk of chunks) {
        const page = /\/src\/pages\/(\w+)\/Page\.tsx$/.exec(chunk.facadeModuleId ?? "")?.[1];
        if (page) add(page, [`${page}/Page.tsx`, ...(SHOWN[page] ?? [])]);
      }
      for (const [route, modules] of Object.entries(SHOWN)) if (route.includes("/")) add(route, modules);
      this.emitFile({ type: "asset", fileName: "routes.json", source: JSON.stringify(routes) });
    },
  };
}

/** The files that a chunk needs, the largest first. */
function filesOf(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): string[] {
  const files = new Set<string>();
  addFiles(files, chunk, bundle);
  return [...files].sort((one, other) => sizeOf(bundle[other]) - sizeOf(bundle[one]));
}

/** The chunk, its styles and what it imports. */
function addFiles(found: Set<string>, chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): void {
  if (found.has(chunk.fileName)) return;
  found.add(chunk.fileName);
  for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
  for (const name of chunk.imports) {
    const next = bundle[name];
    if (next?.type === "chunk") addFiles(found, next, bundle);
  }
}

function sizeOf(file: Rolldown.OutputBundle[string] | undefined): number {
  return (file?.type === "chunk" ? file.code : (file?.source ?? "")).length;
}
