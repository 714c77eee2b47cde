/** The tab "Raw JSON": the server's entry as it is in the config file; unknown keys are kept. The host checks and
 * saves it. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { useEntrySaver } from "./useEntry";
import { unknownKeysText } from "./text";

/** The entry as it is in the file; unknown keys are kept. */
export function RawJson({ name, onReview }: { name: string; onReview: () => void }) {
  const { data, error } = useOperation("entry", { name });
  const [text, setText] = useState<string | null>(null);
  const { save, busy, trouble } = useEntrySaver(name, data?.text ?? "", onReview);
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading rows={5} height={28} />;
  const shown = text ?? data.text;
  return (
    <div className="form-width">
      <p className="muted text-small space-below-6">
        <code>{data.file}</code>, line {data.line}. {unknownKeysText(data.unknown.length)}
      </p>
      <textarea
        className="code wrap json-field"
        aria-label={`Entry of ${name}`}
        spellCheck={false}
        rows={Math.max(10, shown.split("\n").length + 1)}
        value={shown}
        onChange={(event) => setText(event.target.value)}
      />
      {trouble !== null && <ErrorBox error={trouble} />}
      <div className="row space-above-10">
        <span className="muted text-small grow">Changing the command requires trust again.</span>
        <button type="button" className="btn" disabled={text === null} onClick={() => setText(null)}>
          Undo
        </button>
        <button
          type="button"
          className="btn primary"
          disabled={busy || text === null || text === data.text}
          onClick={() => void save({ text: shown, digest: data.digest }).then((done) => done && setText(null))}
        >
          Save
        </button>
      </div>
    </div>
  );
}
