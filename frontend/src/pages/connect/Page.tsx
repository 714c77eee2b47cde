import { refreshOn, useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { Loading } from "../../ui/Loading";
import { Status } from "../../ui/Status";
import { useChosenInView } from "../../ui/strip";
import { Trouble } from "../../ui/Trouble";
import { AnyClient } from "./AnyClient";
import { ClientSteps } from "./ClientSteps";
import "./page.css";
import { firstShown, inOrder } from "./order";
import { Profiles } from "./Profiles";
import { WORDS } from "./words";

refreshOn("config", "profile_list", "clients", "client_entry");
refreshOn("call", "view_use");
refreshOn("calls", "view_use");
refreshOn("tools", "tools");

const OTHER = "other";

/** How other programs use this crib. */
export default function ConnectPage() {
  const clients = useOperation("clients", {});
  const search = useSearch();
  const known = inOrder(clients.data ?? []);
  const chosen = search.get("client") ?? firstShown(known) ?? OTHER;
  const strip = useChosenInView<HTMLElement>(`${chosen} ${known.length}`);
  const client = known.find((one) => one.client === chosen);
  return (
    <div className="page">
      <div className="ph1">
        <div className="grow">
          <h1>{WORDS.title}</h1>
          <p>{WORDS.about}</p>
        </div>
        <Status shape="ok" word={WORDS.on} />
      </div>
      {clients.error && <Trouble error={clients.error} again={() => void clients.refetch()} />}
      {clients.isPending && <Loading />}
      {clients.data && (
        <div className="cx">
          <nav className="cls" aria-label="Clients" ref={strip}>
            {[...known, null].map((one) => {
              const name = one?.client ?? OTHER;
              return (
                <button
                  key={name}
                  type="button"
                  className={name === chosen ? "on" : ""}
                  aria-current={name === chosen ? "true" : undefined}
                  onClick={() => setSearch({ client: name })}
                >
                  {one?.title ?? WORDS.other}
                  <span>{one?.connected ? WORDS.entryWritten : one?.found ? WORDS.here : ""}</span>
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
