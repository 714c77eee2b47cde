/** The Connect page: the list of programs with "configured" or "installed", the steps of the chosen one, and the
 * profiles. */

import { refreshOn, useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { LearnMore } from "../../ui/LearnMore";
import { Loading } from "../../ui/Loading";
import { Status } from "../../ui/Status";
import { useChosenInView } from "../../ui/chosenInView";
import { ErrorBox } from "../../ui/ErrorBox";
import { AnyClient } from "./AnyClient";
import { ClientSteps } from "./ClientSteps";
import "./page.css";
import { firstShown, inOrder } from "./order";
import { Profiles } from "./Profiles";
import { TEXT } from "./text";

refreshOn("config", "profile_list", "clients", "client_entry");
refreshOn("call", "view_use");
refreshOn("calls", "view_use");
refreshOn("tools", "tools");

const OTHER = "other";

/** How other programs use this gateway. */
export default function ConnectPage() {
  const clients = useOperation("clients", {});
  const search = useSearch();
  const known = inOrder(clients.data ?? []);
  const chosen = search.get("client") ?? firstShown(known) ?? OTHER;
  const strip = useChosenInView<HTMLElement>(`${chosen} ${known.length}`);
  const client = known.find((one) => one.client === chosen);
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{TEXT.title}</h1>
          <p>
            {TEXT.about} <LearnMore page="clients.html" />
          </p>
        </div>
        <Status shape="ok" word={TEXT.on} />
      </div>
      {clients.error && <ErrorBox error={clients.error} again={() => void clients.refetch()} />}
      {clients.isPending && <Loading />}
      {clients.data && (
        <div className="connect-layout">
          <nav className="client-list" aria-label="Clients" ref={strip}>
            {[...known, null].map((one) => {
              const name = one?.client ?? OTHER;
              return (
                <button
                  key={name}
                  type="button"
                  className={name === chosen ? "selected" : ""}
                  aria-current={name === chosen ? "true" : undefined}
                  onClick={() => setSearch({ client: name })}
                >
                  {one?.title ?? TEXT.other}
                  <span>{one?.connected ? TEXT.configured : one?.found ? TEXT.installed : ""}</span>
                </button>
              );
            })}
          </nav>
          <div>
            {client ? <ClientSteps client={client} /> : <AnyClient />}
            <Profiles />
          </div>
        </div>
      )}
    </div>
  );
}
