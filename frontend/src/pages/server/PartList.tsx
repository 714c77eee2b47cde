/** The list of a server's resources or prompts, fetched in parts of a hundred. */

import { useCallback, useEffect, useState, type ReactNode } from "react";

import { run, type Result } from "../../api/client";
import { ErrorBox } from "../../ui/ErrorBox";
import { Loading } from "../../ui/Loading";
import { OFFERED } from "./text";

type List = "resources" | "prompts";
const PART = 100;

interface Props<O extends List> {
  operation: O;
  /** The server. */
  name: string;
  title: string;
  empty: string;
  row: (listed: Result<O>[number], index: number) => ReactNode;
}

export function PartList<O extends List>({ operation, name, title, empty, row }: Props<O>) {
  const { rows, more, next, error, again } = useParts(operation, name);
  if (error !== null) return <ErrorBox error={error} again={again} />;
  if (rows === null) return <Loading rows={4} height={44} />;
  if (rows.length === 0) return <p className="empty">{empty}</p>;
  return (
    <>
      <ul className="offered-list" aria-label={title}>
        {rows.map(row)}
      </ul>
      {more && (
        <button type="button" className="btn" onClick={next}>
          {OFFERED.more}
        </button>
      )}
    </>
  );
}

/** `rows` is null until the first part is here. */
function useParts<O extends List>(operation: O, name: string) {
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
