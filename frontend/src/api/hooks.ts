/** What a component asks the host for, kept fresh by the live stream. */

import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { run, type OperationName, type Params, type Result } from "./client";
import { ApiError } from "./errors";
import { live, type Connection, type LiveEvent } from "./live";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity, // The live stream says when something changed.
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => error instanceof ApiError && error.unreachable && count < 3,
    },
  },
});

/** Which answers each kind of news makes old. Pages add theirs with `refreshOn`. */
const REFRESHES = new Map<string, Set<string>>();

/** When news of this kind comes, ask for these operations again where they are in view. */
export function refreshOn(kind: string, ...operations: OperationName[]): void {
  const known = REFRESHES.get(kind) ?? new Set<string>();
  for (const operation of operations) known.add(operation);
  REFRESHES.set(kind, known);
}

const old = new Set<string>();
let timer: ReturnType<typeof setTimeout> | null = null;

live.listen((event) => {
  if (event.kind === "reset" || event.kind === "reconnected") {
    void queries.invalidateQueries();
    return;
  }
  refreshSoon(...(REFRESHES.get(event.kind) ?? []));
});

/** Ask for these operations again where they are in view. A burst is one refresh: a second one at once would only
 *  break the first off. */
export function refreshSoon(...operations: string[]): void {
  for (const operation of operations) old.add(operation);
  if (old.size > 0 && timer === null) timer = setTimeout(refresh, 150);
}

function refresh(): void {
  timer = null;
  const operations = new Set(old);
  old.clear();
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

/** An operation that changes something; `refreshes` are asked for again when it is done. */
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
  return useSyncExternalStore(live.watch, live.look);
}
