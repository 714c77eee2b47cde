import { useDeferredValue, useRef, useState } from "react";

import { useOperation } from "../../api/hooks";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { reveal } from "../../ui/hidden";
import { Trouble } from "../../ui/Trouble";
import type { Listed } from "./data";
import { Frame } from "./Frame";

/** Servers worth knowing; choosing one fills in the form. */
export function CatalogStep({ onChoose, onBack, onClose }: { onChoose: (listed: Listed) => void; onBack: () => void; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const { data, error } = useOperation("search_servers", { query: useDeferredValue(query) }, { keepPrevious: true });
  return (
    <Frame
      title="Browse catalog"
      first={search}
      onClose={onClose}
      foot={
        <>
          <span className="grow m t12">Nothing is fetched before you have seen the plan</span>
          <button type="button" className="btn" onClick={onBack}>Back</button>
        </>
      }
    >
      <label className="field">
        <Icon name="search" small />
        <input ref={search} value={query} placeholder="What should it do?" aria-label="Search the catalog" onChange={(event) => setQuery(event.target.value)} />
      </label>
      {error && <Trouble error={error} />}
      {!data && !error && <Loading rows={5} />}
      {data?.note && <p className="m t12">{reveal(data.note)}</p>}
      <ul className="cat" aria-label="Servers of the catalog">
        {data?.servers.map((one) => (
          <li key={`${one.name} ${one.reference || one.url}`}>
            <button type="button" className="plain" onClick={() => onChoose(one)}>
              <span className="row">
                <b className="b">{reveal(one.title || one.name)}</b>
                <span className="tag">{one.origin}</span>
              </span>
              <span className="q t12">{reveal(one.about)}</span>
              <code className="m t12">{reveal(one.reference || one.url)}</code>
            </button>
          </li>
        ))}
      </ul>
      {data?.servers.length === 0 && <p className="q">Nothing in the catalog fits. Paste what you have instead.</p>}
    </Frame>
  );
}
