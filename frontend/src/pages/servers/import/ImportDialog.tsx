/** The dialog that imports servers from other programs, or from files that are given: what is ticked at first, what was
 * skipped and why; importing starts nothing. The host finds and reads the config files. */

import { useEffect, useState } from "react";

import { queries, useOperation } from "../../../api/hooks";
import { notify } from "../../../app/notices";
import { plural } from "../../../ui/amounts";
import { reveal } from "../../../ui/hidden";
import { Loading } from "../../../ui/Loading";
import { ErrorBox } from "../../../ui/ErrorBox";
import { StepDialog } from "../../add/StepDialog";
import type { TextFile } from "../../add/textFile";
import { GIVEN } from "../text";
import { GivenFiles } from "./GivenFiles";
import { ImportTable } from "./ImportTable";
import { given, importAll, previewAll, type Choice, type Preview } from "./preview";

/** Servers of other hosts or of given files, to be taken in; importing starts nothing. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone?: (count: number) => void }) {
  const found = useOperation("import_found", {});
  const [files, setFiles] = useState<TextFile[]>([]);
  const [preview, setPreview] = useState<Preview | null>(null);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const { data, isFetching, refetch } = found;
  useEffect(() => void refetch(), [refetch]); // Other hosts' files change without anybody telling us.
  useEffect(() => {
    if (files.length === 0 && (!data || isFetching)) return;
    let gone = false;
    setError(null);
    previewAll(files.length > 0 ? files.map(given) : (data ?? [])).then(
      (made) => {
        if (gone) return;
        setPreview(made);
        setTicked(new Set(made.rows.filter((row) => row.standing === "new").map((row) => row.key)));
        setChoices(new Map(made.rows.filter((row) => row.standing === "differs").map((row) => [row.key, "mine"])));
      },
      (caught: unknown) => !gone && setError(caught),
    );
    return () => {
      gone = true;
    };
  }, [data, isFetching, files]);

  async function take(): Promise<void> {
    if (!preview || busy) return;
    setBusy(true);
    setError(null);
    try {
      const count = await importAll(preview, ticked, choices);
      await queries.invalidateQueries();
      notify(`Imported ${plural(count, "server")}. Nothing was started.`);
      onDone?.(count);
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  }

  const nothing = preview !== null && preview.rows.length === 0;
  return (
    <StepDialog
      title="Import servers"
      wide
      onClose={onClose}
      onSubmit={() => void take()}
      foot={
        <>
          <span className="grow muted text-small">Importing starts nothing</span>
          <button type="button" className="btn" onClick={onClose}>
            {nothing ? "Close" : "Cancel"}
          </button>
          {!nothing && (
            <button type="submit" className="btn primary" disabled={busy || ticked.size === 0}>
              Import {ticked.size} (nothing starts)
            </button>
          )}
        </>
      }
    >
      <GivenFiles files={files} onFiles={setFiles}>
        {!preview && error === null && !found.error && <Loading rows={5} height={44} />}
        {found.error && files.length === 0 && <ErrorBox error={found.error} again={() => void refetch()} />}
        {nothing && preview.problems.length === 0 && (
          <p className="secondary">{files.length > 0 ? GIVEN.nothing : GIVEN.noneFound}</p>
        )}
        {preview && preview.rows.length > 0 && (
          <>
            <p className="secondary space-below-10">{foundText(preview)}</p>
            <ImportTable
              preview={preview}
              ticked={ticked}
              choices={choices}
              onTicked={setTicked}
              onChoices={setChoices}
            />
          </>
        )}
        {preview?.refused.map((one) => (
          <p key={`${one.from} ${one.name}`} className="muted text-small">
            {reveal(one.name)} of {reveal(one.from)} was skipped: {reveal(one.why)}.
          </p>
        ))}
        {preview?.problems.map((one) => (
          <p key={one.from} className="text-small error-text" role="alert">
            {reveal(one.from)} cannot be read: {reveal(one.why)}
          </p>
        ))}
      </GivenFiles>
      {error !== null && <ErrorBox error={error} />}
    </StepDialog>
  );
}

/** "Found 9 servers in Claude Desktop (5), Cursor (3) and VS Code (2); one is the same in two places." */
export function foundText(preview: Preview): string {
  const counts = new Map<string, number>();
  for (const row of preview.rows) counts.set(row.from, (counts.get(row.from) ?? 0) + 1);
  const places = [...counts].map(([title, count]) => `${title} (${count})`);
  const where = places.length > 1 ? `${places.slice(0, -1).join(", ")} and ${places.at(-1)}` : places.join("");
  const twins = preview.rows.filter((row) => row.standing === "twin").length;
  const same =
    twins === 0 ? "" : twins === 1 ? "; one is the same in two places" : `; ${twins} are the same in two places`;
  return `Found ${plural(preview.rows.length - twins, "server")} in ${where}${same}. Importing starts nothing.`;
}
