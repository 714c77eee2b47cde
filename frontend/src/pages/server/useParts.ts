/** A list of a server, such as its resources, fetched in parts of a hundred. */

import { useCallback, useEffect, useState } from "react";

import { run, type Result } from "../../api/client";

type List = "resources" | "prompts";
const PART = 100;

export interface Parts<O extends List> {
  /** Null until the first part is here. */
  rows: Result<O> | null;
  more: boolean;
  next: () => void;
  error: unknown;
  again: () => void;
}

export function useParts<O extends List>(operation: O, name: string): Parts<O> {
  const [rows, setRows] = useState<Result<O> | null>(null);
  const [more, setMore] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fetchFrom = useCallback(
    async (before: Result<O> | null, signal?: AbortSignal) => {
      try {
        const part = await run(operation, { name, limit: PART, offset: before?.length ?? 0 }, signal);
        setRows([...(before ?? []), ...part] as Result<O>);
        setMore(part.length === PART);
        setError(null);
      } catch (caught) {
        if (!signal?.aborted) setError(caught);
      }
    },
    [operation, name],
  );
  useEffect(() => {
    const leaving = new AbortController();
    void fetchFrom(null, leaving.signal);
    return () => leaving.abort();
  }, [fetchFrom]);
  return {
    rows,
    more,
    next: () => void fetchFrom(rows),
    error,
    again: () => void fetchFrom(null),
  };
}
