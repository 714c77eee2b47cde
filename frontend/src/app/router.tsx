/** Paths and queries in the address, so that every view has one: going to a page, back and forward, links without a
 * reload. */

import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from "react";

const watchers = new Set<() => void>();
const tell = () => watchers.forEach((watcher) => watcher());
addEventListener("popstate", tell);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search) return;
  history[options.replace ? "replaceState" : "pushState"](null, "", to);
  tell();
}

export function usePath(): string {
  return useSyncExternalStore(watch, () => location.pathname);
}

export function useSearch(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(watch, () => location.search));
}

/** The parts of the path after the page's own, decoded. */
export function useRest(): string[] {
  return usePath().split("/").slice(2).filter(Boolean).map(decodeURIComponent);
}

/** Change parts of the query in place; null takes one out. */
export function setSearch(changes: Record<string, string | null>): void {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") search.delete(name);
    else search.set(name, value);
  }
  const text = search.toString();
  navigate(location.pathname + (text ? `?${text}` : ""), { replace: true });
}

/** A link within the page; `href` is a path of its own, never an address. */
export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(href);
  }
  return <a href={/^(\/(?![/\\])|#)/.test(href) ? href : "/"} onClick={follow} {...rest} />;
}
