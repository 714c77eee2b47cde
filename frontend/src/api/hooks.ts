/** Queries and actions of components: which results are fetched again after which live event, retries while the host
 * is unreachable, how long unused results are kept, items per page of long lists. */

import {
  keepPreviousData,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryOptions,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { run, type OperationName, type Params, type Result } from "./client";
import { ApiError } from "./errors";
import { live, type Connection, type LiveEvent } from "./live";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity, // Live events say when something changed.
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => error instanceof ApiError && error.unreachable && count < 3,
    },
  },
});

type EventKind = LiveEvent["kind"];

/** Which results each kind of event makes stale. Pages add theirs with `refreshOn`. */
const REFRESHES = new Map<EventKind, Set<OperationName>>();

/** Fetch these operations again, if they are in view, when an event of this kind arrives. */
export function refreshOn(kind: EventKind, ...operations: OperationName[]): void {
  const known = REFRESHES.get(kind) ?? new Set<OperationName>();
  for (const operation of operations) known.add(operation);
  REFRESHES.set(kind, known);
}

const stale = new Set<string>();
let timer: ReturnType<typeof setTimeout> | null = null;

live.listen((event) => {
  if (event.kind === "reset" || event.kind === "reconnected") {
    void queries.invalidateQueries();
    return;
  }
  if (event.kind === "missed") {
    // What was answered before the stream opened may have changed unnoticed.
    void queries.invalidateQueries({ predicate: ({ state }) => state.dataUpdatedAt > 0 });
    return;
  }
  refreshSoon(...(REFRESHES.get(event.kind) ?? []));
});

/** Fetch these operations again, if they are in view. A burst of calls is one refresh: a second one right away would
 *  only abort the first. */
export function refreshSoon(...operations: OperationName[]): void {
  for (const operation of operations) stale.add(operation);
  if (stale.size > 0 && timer === null) timer = setTimeout(refresh, 150);
}

function refresh(): void {
  timer = null;
  const operations = new Set(stale);
  stale.clear();
  void queries.invalidateQueries({ predicate: ({ queryKey }) => operations.has(String(queryKey[0])) });
}

export function useOperation<O extends OperationName>(
  operation: O,
  params: Params<O>,
  options: { enabled?: boolean; keepPrevious?: boolean } = {},
): UseQueryResult<Result<O>, Error> {
  return useQuery<Result<O>, Error>({
    queryKey: [operation, params],
    queryFn: ({ signal }) => run(operation, params, signal),
    enabled: options.enabled ?? true,
    ...(options.keepPrevious ? { placeholderData: keepPreviousData } : {}),
  } as UseQueryOptions<Result<O>, Error>);
}

type Paged = "find_tools" | "tools";
const PAGES: {
  [O in Paged]: { rest: (page: Result<O>) => string | null; join: (one: Result<O>, two: Result<O>) => Result<O> };
} = {
  find_tools: {
    rest: (page) => (page.more ? (page.tools.at(-1)?.name ?? null) : null),
    join: (one, two) => ({ ...two, tools: [...one.tools, ...two.tools] }),
  },
  tools: {
    rest: (page) => (page.length >= MAX_PAGE ? (page.at(-1)?.name ?? null) : null),
    join: (one, two) => [...one, ...two],
  },
};
const MAX_PAGE = 500;

/** All pages of a list, fetched one after another; the first ones are shown meanwhile. */
export function usePages<O extends Paged>(
  operation: O,
  params: Params<O>,
  options: { enabled?: boolean; keepPrevious?: boolean } = {},
): UseQueryResult<Result<O>, Error> {
  const key = [operation, params];
  return useQuery<Result<O>, Error>({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const { rest, join } = PAGES[operation];
      const isFirst = queries.getQueryData(key) === undefined;
      let all = await run(operation, { ...params, limit: MAX_PAGE }, signal);
      for (let after = rest(all); after !== null;) {
        if (isFirst) queries.setQueryData(key, all);
        const next: Result<O> = await run(operation, { ...params, limit: MAX_PAGE, after }, signal);
        all = join(all, next);
        after = rest(next);
      }
      return all;
    },
    enabled: options.enabled ?? true,
    ...(options.keepPrevious ? { placeholderData: keepPreviousData } : {}),
  } as UseQueryOptions<Result<O>, Error>);
}

/** An operation that changes something; `refreshes` are fetched again when it is done. */
export function useAction<O extends OperationName>(operation: O, ...refreshes: OperationName[]) {
  const client = useQueryClient();
  return useMutation<Result<O>, Error, Params<O>>({
    mutationFn: (params) => run(operation, params),
    onSettled: () => {
      for (const name of refreshes) void client.invalidateQueries({ queryKey: [name] });
    },
  });
}

export function useLive(listener: (event: LiveEvent) => void): void {
  useEffect(() => live.listen(listener), [listener]);
}

export function useConnection(): Connection {
  return useSyncExternalStore(live.watch, live.current);
}
