/** Components whose code is not needed for the first view of a page: fetched when they are first shown, or once the
 * page has the data of its first view, so that they are there if the host goes away. */

import type { QueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState, type ComponentType, type ReactNode } from "react";

const AFTERWARDS = 100; // Milliseconds; an answer may lead to the next question.
const waiting: (() => Promise<unknown>)[] = [];

/** What is fetched with the module that shows it. */
export const soonest: Promise<unknown>[] = [];

/** The component, once it is there; `meanwhile` until then. `soon` fetches it with the module that shows it. */
export function deferred<P extends object>(
  load: () => Promise<ComponentType<P>>,
  meanwhile: (props: P) => ReactNode = () => null,
  soon = false,
): ComponentType<P> {
  let ready: ComponentType<P> | null = null;
  const fetch = () => load().then((component) => (ready = component));
  const Lazy = lazy(() => fetch().then((component) => ({ default: component as ComponentType<object> })));
  if (soon) soonest.push(fetch().catch(() => undefined));
  else waiting.push(fetch);
  return function Deferred(props: P) {
    // React shows what it waited for after 300 ms at the earliest, so what is there is not waited for.
    const [Shown] = useState<ComponentType<P>>(() => ready ?? Lazy);
    return (
      <Suspense fallback={meanwhile(props)}>
        <Shown {...props} />
      </Suspense>
    );
  };
}

/** Fetch the code of what was not shown yet once the page has its answers: on a slow line it would delay them. What
 * fails is fetched again when it is shown. */
export function fetchDeferred(queries: QueryClient): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  function look() {
    if (waiting.length === 0 || queries.isFetching() > 0) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      if (queries.isFetching() > 0) return;
      for (const fetch of waiting.splice(0)) fetch().catch(() => undefined);
    }, AFTERWARDS);
  }
  look();
  const unwatch = queries.getQueryCache().subscribe(look);
  return () => {
    clearTimeout(timer);
    unwatch();
  };
}
