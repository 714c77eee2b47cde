/** Starts the page: press guard, sign-in with the key in the address, live events, then the app. */

// First, because it sets the order of the CSS layers.
import "./styles/index.css";

import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { queries } from "./api/hooks";
import { signIn } from "./api/key";
import { live } from "./api/live";
import { App } from "./app/App";
import { loadPage } from "./app/PageView";
import { showCutText } from "./ui/cutText";
import { guardPresses } from "./ui/pressGuard";

async function start(): Promise<void> {
  guardPresses(document);
  showCutText(document);
  const page = loadPage(location.pathname);
  await signIn();
  live.start();
  await page;
  const root = document.getElementById("root");
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
