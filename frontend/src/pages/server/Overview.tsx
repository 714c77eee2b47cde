/** The tab Overview of a server's page: which panels it has, and their order. */

import type { Open } from "../servers/Dialogs";
import type { Glance } from "../servers/model";
import { LiveScreen } from "../../ui/screen/LiveScreen";
import { Accounts } from "./Accounts";
import { Differences } from "./Differences";
import { Log } from "./Log";
import { RunsAs } from "./RunsAs";
import { ToolsTable } from "./ToolsTable";
import { Versions } from "./Versions";

/** The most of everything on one page. */
export function Overview({ server, onOpen }: { server: Glance; onOpen: (open: Open) => void }) {
  return (
    <div className="columns">
      <div>
        <ToolsTable server={server.name} />
        {server.held.length > 0 && <Differences name={server.name} />}
      </div>
      <div>
        <LiveScreen server={server.name} />
        <Accounts name={server.name} type={server.type} />
        <Log server={server} />
        <RunsAs server={server} onOpen={onOpen} />
        <Versions name={server.name} />
      </div>
    </div>
  );
}
