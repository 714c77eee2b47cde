import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { Loading } from "../../ui/Loading";
import { Trouble } from "../../ui/Trouble";
import { useEntrySaver } from "./useEntry";
import { keptWords } from "./words";

/** The entry as it stands in the file; what we do not know in it is kept. */
export function RawJson({ name, onReview }: { name: string; onReview: () => void }) {
  const { data, error } = useOperation("entry", { name });
  const [text, setText] = useState<string | null>(null);
  const { save, busy, trouble } = useEntrySaver(name, onReview);
  if (error) return <Trouble error={error} />;
  if (!data) return <Loading rows={5} height={28} />;
  const shown = text ?? data.text;
  return (
    <div style={{ maxWidth: 760 }}>
      <p className="m t12" style={{ marginBottom: 6 }}>
        <code>{data.file}</code>, line {data.line}. {keptWords(data.unknown.length)}
      </p>
      <textarea className="code wrap json" aria-label={`Entry of ${name}`} spellCheck={false} rows={Math.max(10, shown.split("\n").length + 1)} value={shown} onChange={(event) => setText(event.target.value)} />
      {trouble !== null && <Trouble error={trouble} />}
      <div className="row" style={{ marginTop: 10 }}>
        <span className="m t12 grow">A change of command asks for trust.</span>
        <button type="button" className="btn" disabled={text === null} onClick={() => setText(null)}>Undo</button>
        <button type="button" className="btn pri" disabled={busy || text === null || text === data.text} onClick={() => void save(shown, data.digest).then((done) => done && setText(null))}>Save</button>
      </div>
    </div>
  );
}
