/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

// The page is built into the Python package, without source maps; `npm run dev` asks a host that runs.
export default defineConfig(({ mode }) => ({
  plugins: [react()],
  build: {
    outDir: "../src/toolcrib/web/static",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    chunkSizeWarningLimit: 900,
  },
  // One thread for all tests: a new one for each file takes three times the work, and they share nothing they change.
  test: { pool: "threads", isolate: false, maxWorkers: 1 },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": loadEnv(mode, ".", "TOOLCRIB_")["TOOLCRIB_ADDRESS"] ?? "http://127.0.0.1:4180" },
  },
}));
