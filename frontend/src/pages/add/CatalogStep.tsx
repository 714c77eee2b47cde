import { useDeferredValue, useRef, useState } from "react";

import { useOperation } from "../../api/hooks";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { reveal } from "../../ui/hidden";
import { ErrorBox } from "../../ui/ErrorBox";
import type { Listed } from "./types";
import { StepDialog } from "./StepDialog";

/** Servers worth knowing; choosing one fills in the form. */
export function CatalogStep({
  onChoose,
  onBack,
  onClose,
}: {
  onChoose: (listed: Listed) => void;
  onBack: () => void;
  onClose: () => void;
}) {
  const [query, setQuery] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const { data, error } = useOperation("search_servers", { query: useDeferredValue(query) }, { keepPrevious: true });
  return (
    <StepDialog
      title="Browse catalog"
      first={search}
      onClose={onClose}
      foot={
        <>
          <span className="grow muted text-small">Nothing is downloaded until you've seen the plan</span>
          <button type="button" className="btn" onClick={onBack}>
            Back
          </button>
        </>
      }
    >
      <label className="field">
        <Icon name="search" small />
        <input
          ref={search}
          value={query}
          placeholder="What should it do?"
          aria-label="Search the catalog"
          onChange={(event) => setQuery(event.target.value)}
        />
      </label>
      {error && <ErrorBox error={error} />}
      {!data && !error && <Loading rows={5} />}
      {data?.note && <p className="muted text-small">{reveal(data.note)}</p>}
      <ul className="catalog-list" aria-label="Catalog servers">
        {data?.servers.map((one) => (
          <li key={`${one.name} ${one.reference || one.url}`}>
            <button type="button" className="plain-button" onClick={() => onChoose(one)}>
              <span className="row">
                <b className="medium">{reveal(one.title || one.name)}</b>
                <span className="tag">{one.origin}</span>
              </span>
              <span className="secondary text-small">{reveal(one.about)}</span>
              <code className="muted text-small">{reveal(one.reference || one.url)}</code>
            </button>
          </li>
        ))}
      </ul>
      {data?.servers.length === 0 && (
        <p className="secondary">No matches in the catalog. Paste a command or package instead.</p>
      )}
    </StepDialog>
  );
}
