/** Loads and shows the page of the current path; "Page not found", and the error box of a page that crashed. */

import { Component, lazy, Suspense, useEffect, type ComponentType, type ReactNode } from "react";

import { queries } from "../api/hooks";
import { fetchDeferred, soonest } from "../ui/deferred";
import { Loading } from "../ui/Loading";
import { MOD } from "../ui/platform";
import { ErrorBox } from "../ui/ErrorBox";
import { pageAt } from "./places";
import { Link, usePath } from "./router";
import { HomeRedirect, homePath } from "./HomeRedirect";

type Loader = () => Promise<{ default: ComponentType }>;

// The folder is the list: each page is loaded when it is first opened.
const loaders = import.meta.glob<{ default: ComponentType }>("../pages/*/Page.tsx");
const pages = new Map<string, ComponentType>();
for (const [path, loader] of Object.entries(loaders)) {
  pages.set(path.split("/")[2] ?? "", lazy(loader as Loader));
}

/** Load the page of this path before the first drawing: React waits 300 ms before it replaces a placeholder. */
export async function loadPage(path: string): Promise<void> {
  const page = pageAt(path === "/" ? homePath() : path);
  const loaded = await loaders[`../pages/${page}/Page.tsx`]?.().catch(() => null);
  await Promise.all(soonest);
  if (loaded) pages.set(page, loaded.default);
}

export function PageView() {
  useEffect(() => fetchDeferred(queries), []);
  const path = usePath();
  const page = pageAt(path);
  if (path === "/") return <HomeRedirect />;
  const Page = pages.get(page);
  if (!Page) return <Nowhere />;
  return (
    <div className={`page-${page} contents`}>
      <Fence key={page}>
        <Suspense
          fallback={
            <div className="page">
              <Loading />
            </div>
          }
        >
          <Page />
        </Suspense>
      </Fence>
    </div>
  );
}

function Nowhere() {
  return (
    <div className="page">
      <h1>Page not found</h1>
      <p className="empty">
        There is no page at this address. <Link href="/chat">Go to Chat</Link>, or press <kbd>{MOD}</kbd> <kbd>K</kbd>{" "}
        to search.
      </p>
    </div>
  );
}

/** A page that breaks takes nothing else with it. */
class Fence extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="page">
        <ErrorBox error={this.state.error} again={() => this.setState({ error: null })} />
      </div>
    );
  }
}
