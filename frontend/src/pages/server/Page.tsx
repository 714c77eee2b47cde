/** The page of one server: its tabs (Overview, Tools, Resources, Prompts, Log, Traffic, Versions, Settings, Raw JSON),
 * and when each is fetched again. */

import { useState } from "react";

import { refreshOn, useOperation } from "../../api/hooks";
import { Link, navigate, setSearch, useRest, useSearch } from "../../app/router";
import { Icon } from "../../ui/Icon";
import { Loading } from "../../ui/Loading";
import { TabBar } from "../../ui/TabBar";
import { ErrorBox } from "../../ui/ErrorBox";
import { Dialogs, type Open } from "../servers/Dialogs";
import { Facts } from "./Facts";
import { Head } from "./Head";
import { Log } from "./Log";
import { NeedsAction } from "./NeedsAction";
import { Overview } from "./Overview";
import "./page.css";
import { Prompts } from "./Prompts";
import { RawJson } from "./RawJson";
import { Resources } from "./Resources";
import { SettingsForm } from "./SettingsForm";
import { ToolsTable } from "./ToolsTable";
import { Traffic } from "./Traffic";
import { Versions } from "./Versions";

refreshOn("server", "overview", "launch", "find_tools", "trust");
refreshOn("tools", "overview", "find_tools", "trust", "tools");
refreshOn("config", "overview", "launch", "entry", "find_tools", "versions");
refreshOn("call", "overview");
refreshOn("server", "versions", "screens");
refreshOn("call", "screens");

/** One server: how it is, what it offers, what it wrote, how it is run. */
export default function ServerPage() {
  const [name = ""] = useRest();
  const overview = useOperation("overview", {});
  const [open, setOpen] = useState<Open | null>(null);
  const tab = useSearch().get("tab") ?? "overview";
  const kept = useOperation(
    "versions",
    { name },
    { enabled: overview.data?.servers.some((one) => one.name === name) ?? false },
  ).data;
  const server = overview.data?.servers.find((one) => one.name === name);
  if (overview.isPending)
    return (
      <div className="page">
        <Loading />
      </div>
    );
  if (overview.error)
    return (
      <div className="page">
        <ErrorBox error={overview.error} again={() => void overview.refetch()} />
      </div>
    );
  if (!server) return <Gone name={name} />;
  const tabs = [
    { value: "overview", name: "Overview", content: <Overview server={server} onOpen={setOpen} /> },
    {
      value: "tools",
      name: (
        <>
          Tools <span className="count">{server.tools}</span>
        </>
      ),
      content: (
        <div className="tab">
          <ToolsTable server={name} />
        </div>
      ),
    },
    {
      value: "resources",
      name: "Resources",
      content: (
        <div className="tab">
          <Resources name={name} />
        </div>
      ),
    },
    {
      value: "prompts",
      name: "Prompts",
      content: (
        <div className="tab">
          <Prompts name={name} />
        </div>
      ),
    },
    {
      value: "log",
      name: "Log",
      content: (
        <div className="tab">
          <Log server={server} tall />
        </div>
      ),
    },
    {
      value: "traffic",
      name: "Traffic",
      content: (
        <div className="tab">
          <Traffic key={name} name={name} />
        </div>
      ),
    },
    {
      value: "versions",
      name: kept?.length ? (
        <>
          Versions <span className="count">{kept.length}</span>
        </>
      ) : (
        "Versions"
      ),
      content: (
        <div className="tab">
          <Versions name={name} whole />
        </div>
      ),
    },
    {
      value: "settings",
      name: "Settings",
      content: (
        <div className="tab">
          <SettingsForm name={name} onReview={() => setOpen({ what: "review", name })} />
        </div>
      ),
    },
    {
      value: "json",
      name: "Raw JSON",
      content: (
        <div className="tab">
          <RawJson name={name} onReview={() => setOpen({ what: "review", name })} />
        </div>
      ),
    },
  ];
  return (
    <div className="page">
      <nav className="breadcrumb" aria-label="Breadcrumb">
        <Link className="inherit-color" href="/servers">
          Servers
        </Link>
        <Icon name="right" small />
        <span>{name}</span>
      </nav>
      <Head server={server} onOpen={setOpen} />
      <Facts server={server} />
      <NeedsAction server={server} onOpen={setOpen} />
      <TabBar
        label={`Views of ${name}`}
        value={tab}
        tabs={tabs}
        onChange={(value) => setSearch({ tab: value === "overview" ? null : value })}
      />
      <Dialogs open={open} onOpen={setOpen} />
    </div>
  );
}

function Gone({ name }: { name: string }) {
  return (
    <div className="page">
      <h1>{name}</h1>
      <p className="empty">
        There is no server with this name.{" "}
        <button type="button" className="btn small" onClick={() => navigate("/servers")}>
          All servers
        </button>
      </p>
    </div>
  );
}
