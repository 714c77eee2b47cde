/** "Browse catalog": search over known servers, tags such as "Included"; choosing one fills in the form. The host has
 * the catalog and its search. */

import { useDeferredValue, useState } from "react";

import { queries, useOperation } from "../../api/hooks";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { reveal } from "../../ui/hidden";
import { ErrorBox } from "../../ui/ErrorBox";
import type { Listed } from "./types";
import { useAdded } from "./Included";
import { LookUp } from "./LookUp";
import { StepDialog } from "./StepDialog";
import { INCLUDED, LOOK_UP } from "./text";

interface Props {
  busy: boolean;
  /** Why an included server could not be added. */
  failure: unknown;
  onChoose: (listed: Listed) => void;
  onAdd: (listed: Listed) => void;
  onBack: () => void;
  onClose: () => void;
}

/** Servers worth knowing: choosing one fills in the form; one that is included is added at once. */
export function CatalogStep({ busy, failure, onChoose, onAdd, onBack, onClose }: Props) {
  const [query, setQuery] = useState("");
  const isAdded = useAdded();
  const wanted = useDeferredValue(query);
  const listed = useOperation("search_servers", { query: wanted, registry: false }, { keepPrevious: true });
  const [stopped, setStopped] = useState("");
  const asks = Boolean(listed.data?.registry) && wanted !== "" && stopped !== wanted;
  const wider = useOperation("search_servers", { query: wanted }, { enabled: asks });
  const data = wider.data ?? listed.data;
  const error = listed.error ?? (asks ? wider.error : null);
  const stop = () => {
    setStopped(wanted);
    void queries.cancelQueries({ queryKey: ["search_servers", { query: wanted }] });
  };
  const servers = (data?.servers ?? []).filter((one) => !one.setting);
  return (
    <StepDialog
      title="Browse catalog"
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
          value={query}
          placeholder="What should it do?"
          aria-label="Search the catalog"
          onChange={(event) => setQuery(event.target.value)}
        />
      </label>
      {asks && wider.isFetching && listed.data && (
        <LookUp key={wanted} words={LOOK_UP.registry(listed.data.registry)} stop={stop} />
      )}
      {error && <ErrorBox error={error} />}
      {failure !== null && failure !== undefined && <ErrorBox error={failure} />}
      {!data && !error && <Loading rows={5} />}
      {data?.note && <p className="muted text-small">{reveal(data.note)}</p>}
      <ul className="catalog-list" aria-label="Catalog servers">
        {servers.map((one) => (
          <li key={`${one.name} ${one.reference || one.url}`}>
            <button
              type="button"
              className="plain-button"
              disabled={one.bundled && (busy || isAdded(one))}
              onClick={() => (one.bundled ? onAdd(one) : onChoose(one))}
            >
              <span className="row">
                <b className="medium">{reveal(one.title || one.name)}</b>
                <Tags listed={one} added={one.bundled && isAdded(one)} />
              </span>
              <span className="secondary text-small">{reveal(one.about)}</span>
              <code className="muted text-small">{reveal(one.reference || one.url || one.add)}</code>
            </button>
          </li>
        ))}
      </ul>
      {data && servers.length === 0 && (
        <p className="secondary">No matches in the catalog. Paste a command or package instead.</p>
      )}
    </StepDialog>
  );
}

function Tags({ listed, added }: { listed: Listed; added: boolean }) {
  if (!listed.bundled) return <span className="tag">{listed.origin}</span>;
  const needsAccount = !added && listed.needs_account.length > 0;
  return (
    <>
      <span className="tag ok">{added ? INCLUDED.added : INCLUDED.tag}</span>
      {needsAccount && <span className="tag">{INCLUDED.needsAccount}</span>}
    </>
  );
}
