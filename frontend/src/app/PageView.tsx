import { Component, lazy, Suspense, type ComponentType, type LazyExoticComponent, type ReactNode } from "react";

import { Loading } from "../ui/Loading";
import { MOD } from "../ui/platform";
import { Trouble } from "../ui/Trouble";
import { pageAt } from "./places";
import { Link, usePath } from "./router";
import { Threshold } from "./Threshold";

type Loader = () => Promise<{ default: ComponentType }>;

// The folder is the list: each page is loaded when somebody goes there.
const loaders = import.meta.glob<{ default: ComponentType }>("../pages/*/Page.tsx");
const pages = new Map<string, LazyExoticComponent<ComponentType>>();
for (const [path, loader] of Object.entries(loaders)) {
  pages.set(path.split("/")[2] ?? "", lazy(loader as Loader));
}

export function hasPage(page: string): boolean {
  return pages.has(page);
}

export function PageView() {
  const path = usePath();
  const page = pageAt(path);
  if (path === "/") return <Threshold />;
  const Page = pages.get(page);
  if (!Page) return <Nowhere />;
  return (
    <div className={`p-${page}`} style={{ display: "contents" }}>
      <Fence key={page}>
        <Suspense fallback={<div className="page"><Loading /></div>}>
          <Page />
        </Suspense>
      </Fence>
    </div>
  );
}

function Nowhere() {
  return (
    <div className="page">
      <h1>Nothing is here</h1>
      <p className="empty">
        This address leads nowhere. <Link href="/chat">Go to the chat</Link>, or press <kbd>{MOD}</kbd> <kbd>K</kbd> to
        find what you meant.
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
        <Trouble error={this.state.error} again={() => this.setState({ error: null })} />
      </div>
    );
  }
}
