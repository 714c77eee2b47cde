// Made from the operations by `make types-page`. Changes belong there, not here.

/** The entry as it will stand in the file, and the values of the secrets it refers to. */
export interface AddParams {
  name: string;
  entry: Record<string, unknown>;
  secrets?: Record<string, string>;
  replace?: boolean;
  probe?: boolean;
  wait?: number;
}

/** The same as was proposed, with the mark of what was shown and the plan that it names. */
export interface AdmitParams {
  text?: string;
  entry?: Record<string, unknown> | null;
  reference?: string;
  args?: string[];
  name?: string;
  answers?: Record<string, string>;
  as_is?: boolean;
  allow_scripts?: string[];
  allow_build?: string[];
  mark: string;
  plan?: string;
}

/** A server that is in the config file now and waits for a person's word. */
export interface Admitted {
  name: string;
  mark: string;
  trusted: boolean;
  packages: number;
  version: string;
  ms: number;
}

/** The answer broke off and is asked for again: the words of this round do not count. */
export interface AgainEvent {
  event: "again";
  reason: string;
}

/** A question was answered. */
export interface AnsweredEvent {
  event: "answered";
  id: string;
  action: string;
  scope: string;
  message: string;
}

/** Which question, and what the person says. */
export interface ApprovalAnswerParams {
  id: string;
  allow: boolean;
  scope?: "once" | "chat" | "project" | "always";
  message?: string;
  any_arguments?: boolean;
  lift?: "tool" | "turn" | "session" | boolean | null;
}

/** The word was taken. */
export interface ApprovalAnswered {
  id: string;
  allowed: boolean;
  scope: "once" | "chat" | "project" | "always";
}

/** A call that waits for a word; `arguments` are exact and whole. */
export interface ApprovalQuestion {
  asked_at: string;
  id: string;
  principal: string;
  session: string | null;
  project: string;
  tool: string;
  server: string | null;
  arguments: Record<string, unknown>;
  call: string;
  reasons: string[];
  rule: RuleShown;
  rules?: Record<string, RuleTexts>;
  rule_words?: string;
  tool_rule?: RuleShown | null;
  tool_rules?: Record<string, RuleTexts>;
  tool_rule_words?: string;
  scopes: ("once" | "chat" | "project" | "always")[];
  flow: boolean;
  lifts?: ("tool" | "turn" | "session")[];
  session_mode: boolean;
  [key: string]: unknown;
}

/** Nothing. */
export interface ApprovalsParams {
}

/** What to look for. */
export interface AuditParams {
  limit?: number;
  tool?: string | null;
  server?: string | null;
  principal?: string | null;
  outcome?: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | null;
  since?: string | null;
}

/** The turn is under way. */
export interface BeganEvent {
  event: "began";
  chat: string;
  model: string;
}

/** A rule that is kept but not in force. */
export interface BrokenRule {
  id: string;
  rule: string;
  reason: string;
}

/** Tools that need no server. */
export interface BuiltIn {
  name: string;
  tools: number;
  note: string;
}

/** The model is busy and is asked again after so many seconds. */
export interface BusyEvent {
  event: "busy";
  reason: string;
  seconds: number;
}

/** A call of the record. */
export interface Call {
  place: string;
  call_id: string;
  time: string;
  tool: string;
  server: string | null;
  name: string;
  who: Who;
  outcome: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed";
  ms: number;
  bytes: number;
  arguments: string;
  error: string | null;
  gate: GateNote | null;
}

/** Which call of which chat, or a tool and its arguments. */
export interface CallAgainParams {
  chat: string;
  call?: string | null;
  tool?: string;
  arguments?: Record<string, unknown>;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
}

/** A person has to say whether a call may run. */
export interface CallAskingEvent {
  event: "asking";
  about: "call";
  id: string;
  server: string;
  text: string;
  call: string | null;
  detail: CallQuestion;
}

/** One hour of calls. */
export interface CallBar {
  calls: number;
  failed: number;
}

/** How many calls there are, and how they went. */
export interface CallCounts {
  total: number;
  asked: number;
  denied: number;
  failed: number;
  days: number;
}

/** Of how many days. */
export interface CallCountsParams {
  days?: number;
}

/** A tool is being called; `queued`, it waits for room or for a person's word, and `call` follows. */
export interface CallEvent {
  event: "call" | "queued";
  id: string;
  tool: string;
  server: string | null;
  name: string;
  arguments: Record<string, unknown>;
}

/** What the person is shown of a call. */
export interface CallExhibit {
  kind: "command" | "code" | "edit" | "arguments";
  command?: string;
  folder?: string;
  limits?: string[];
  parts?: CommandPart[];
  unread?: string;
  text?: string;
  path?: string;
  new?: boolean;
  lines?: DifferenceLine[];
  changed?: number;
}

/** A tool that was called. */
export interface CallItem {
  kind: "call";
  position: number;
  id: string;
  tool: string;
  server: string | null;
  name: string;
  arguments: Record<string, unknown>;
  outcome: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | "running" | "interrupted";
  ms: number;
  text: string;
  chars: number;
  whole: number | null;
  images: PictureInfo[];
  by_hand: boolean;
  rule: string;
}

/** A call ended. */
export interface CallNews {
  seq: number;
  kind: "call";
  record: CallRecorded;
}

/** The tool, its arguments as they are, and further ones to be typed by its schema. */
export interface CallParams {
  tool: string;
  arguments?: Record<string, unknown>;
  words?: Word[];
  timeout?: number | null;
  principal?: string;
}

/** How one call went. */
export interface CallPath {
  call: Call;
  chat: string | null;
  exhibit: CallExhibit;
  rules: PolicyRule[];
  server_state: string | null;
}

/** Which call. */
export interface CallPathParams {
  call_id: string;
}

/** A tool tells how far it is. */
export interface CallProgress {
  progress: number;
  total: number | null;
  message: string | null;
}

/** May this call run? */
export interface CallQuestion {
  id: string;
  principal: string;
  session: string | null;
  project: string;
  tool: string;
  server: string | null;
  arguments: Record<string, unknown>;
  call: string;
  reasons: string[];
  rule: Record<string, unknown>;
  scopes: ("once" | "chat" | "project" | "always")[];
  flow: boolean;
  lifts?: ("tool" | "turn" | "session")[];
  session_mode: boolean;
  title: string;
  why: string;
  exhibit: CallExhibit;
  definition: string;
  words: Record<string, RuleWords>;
  tool_words?: Record<string, RuleWords>;
}

/** A call that went through the door. */
export interface CallRecorded {
  time: string;
  tool: string;
  server: string | null;
  principal: string;
  outcome: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed";
  ms: number;
  bytes: number;
  arguments: string;
  error: string | null;
  session: string | null;
  call_id: string;
}

/** The MCP result as the server sent it, unknown keys included. */
export interface CallResult {
  content: Record<string, unknown>[];
  isError: boolean;
  structuredContent?: unknown;
  [key: string]: unknown;
}

/** The chat, and the id of the call as its turn told it. */
export interface CallStopParams {
  chat: string;
  call: string;
}

/** A call that was stopped; false when it was not running. */
export interface CallStopped {
  chat: string;
  call: string;
  stopped: boolean;
}

/** Everything that a call answered. */
export interface CallWhole {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  outcome: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | "running" | "interrupted";
  ms: number;
  text: string;
  whole: string | null;
  images: PictureData[];
}

/** Calls, the newest first. */
export interface Calls {
  calls: Call[];
  matching: number | null;
  more: boolean;
}

/** Calls ended that are not told one by one; 0 for some that may have, while no page was open. */
export interface CallsNews {
  seq: number;
  kind: "calls";
  count: number;
}

/** Words such as `server:git outcome:failed who:gateway since:today push`, and which page. */
export interface CallsParams {
  words?: string;
  limit?: number;
  before?: string | null;
  after?: string | null;
  count?: boolean;
}

/** Nothing. */
export interface CallsRunningParams {
}

/** Servers that fit some words; `note` says why a registry was not heard. */
export interface CatalogSearch {
  query: string;
  total: number;
  servers: CatalogServer[];
  note: string;
}

/** A server worth knowing. */
export interface CatalogServer {
  name: string;
  title: string;
  about: string;
  origin: "official" | "well-known" | "registry";
  reference: string;
  url: string;
  args: string[];
  env: CatalogVariable[];
  version: string;
  add: string;
}

/** A variable that a server of the catalog wants. */
export interface CatalogVariable {
  name: string;
  about: string;
  secret: boolean;
  required: boolean;
}

/** Which chat. */
export interface ChatCloseParams {
  chat: string;
}

/** A chat whose processes ended. */
export interface ChatClosed {
  chat: string;
}

/** Which chat, and who answers. */
export interface ChatContinueParams {
  chat: string;
  model?: string | null;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
}

/** Which chat. */
export interface ChatDeleteParams {
  chat: string;
}

/** An entry of a chat as it is stored; `kind` says what the rest means. */
export interface ChatEntry {
  kind: string;
  [key: string]: unknown;
}

/** A chat as a file. */
export interface ChatExport {
  name: string;
  mime: string;
  text: string;
}

/** Which chat, and in which form. */
export interface ChatExportParams {
  chat: string;
  form?: "markdown" | "json";
}

/** Which, and how much of it. */
export interface ChatForkParams {
  chat: string;
  entries?: number | null;
}

/** A chat in a list. */
export interface ChatInfo {
  id: string;
  title: string;
  model: string;
  created: string;
  updated: string;
  parent: string | null;
  entries: number;
  state: "empty" | "running" | "asking" | "done" | "stopped" | "failed" | "interrupted";
}

/** Chats, the latest first. */
export interface ChatList {
  chats: ChatSummary[];
  more: boolean;
}

/** How many. */
export interface ChatListParams {
  limit?: number;
}

/** A turn that runs in the host told something, the `n`th of it. */
export interface ChatNews {
  seq: number;
  kind: "chat";
  chat: string;
  turn: string;
  n: number;
  event: QuestionEvent | BeganEvent | OfferedEvent | WordsEvent | AgainEvent | NoticeEvent | BusyEvent | CallEvent | ProgressEvent | ResultEvent | CallAskingEvent | ServerAskingEvent | AnsweredEvent | CompactedEvent | RoundEvent | EndedEvent;
}

/** What the person said. */
export interface ChatQuestion {
  position: number;
  text: string;
  images: PictureData[];
}

/** Which chat, and its title. */
export interface ChatRenameParams {
  chat: string;
  title?: string;
}

/** The question's id, and what the person says. */
export interface ChatReplyParams {
  id: string;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown> | null;
}

/** Which chat. */
export interface ChatRestoreParams {
  chat: string;
}

/** Which chat, and which call. */
export interface ChatResultParams {
  chat: string;
  call?: string;
}

/** The question, who answers it, and where it belongs. */
export interface ChatSendParams {
  text: string;
  chat?: string | null;
  model?: string | null;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
  project?: string;
  images?: Picture[];
  pinned?: string[] | null;
  banned?: string[] | null;
}

/** Which. */
export interface ChatShowParams {
  chat: string;
}

/** Which chat. */
export interface ChatStopParams {
  chat: string;
}

/** A chat in a list. */
export interface ChatSummary {
  id: string;
  title: string;
  model: string;
  created: string;
  updated: string;
  parent: string | null;
  entries: number;
  state: "empty" | "running" | "asking" | "done" | "stopped" | "failed" | "interrupted";
  questions: number;
  calls: number;
  reason: string;
  excerpt: string | null;
  deleted: boolean;
}

/** Which tools a chat always offers, and which never. */
export interface ChatTools {
  chat: string;
  pinned: string[];
  banned: string[];
}

/** Which chat, and its tools by name or pattern; what is left out stays as it is. */
export interface ChatToolsParams {
  chat: string;
  pinned?: string[] | null;
  banned?: string[] | null;
}

/** A question and everything that came of it. */
export interface ChatTurn {
  position: number;
  until: number;
  time: string | null;
  question: ChatQuestion | null;
  offered: OfferedTool[];
  of: number;
  note: string;
  items: (TextItem | ThinkingItem | CallItem | NoteItem)[];
  model: string;
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "stopped" | "failed" | "interrupted" | null;
  usage: TokenUsage | null;
  cost: number | null;
}

/** A chat as a page shows it. */
export interface ChatView {
  chat: ChatSummary;
  turns: ChatTurn[];
  earlier: number;
  running: RunningTurn | null;
  usage: TokenUsage;
  cost: number | null;
  calls: number;
  pinned: string[];
  banned: string[];
  project: string;
}

/** Which chat, and how much of it. */
export interface ChatViewParams {
  chat: string;
  limit?: number;
  before?: number | null;
}

/** A chat with all of its entries. */
export interface ChatWhole {
  id: string;
  title: string;
  model: string;
  created: string;
  updated: string;
  parent: string | null;
  entries: ChatEntry[];
  state: "empty" | "running" | "asking" | "done" | "stopped" | "failed" | "interrupted";
}

/** How many, and which. */
export interface ChatsParams {
  limit?: number;
  before?: string | null;
  words?: string;
  deleted?: boolean;
}

/** The server. */
export interface CheckParams {
  server: string;
}

/** One sentence about one thing, and what to do where something is to be done. */
export interface Checkup {
  name: string;
  verdict: "ok" | "warning" | "broken";
  detail: string;
  hint: string;
}

/** What became of a client's file. */
export interface ClientChanged {
  client: string;
  title: string;
  file: string;
  written: boolean;
  backup: string | null;
  afterwards: string;
}

/** The client, the view and the way; `remove` takes the entry out. */
export interface ClientConnectParams {
  client: string;
  profile?: string;
  form?: "program" | "address";
  remove?: boolean;
}

/** What a client needs to use this crib, in the forms in which a person can have it. */
export interface ClientEntry {
  client: string;
  title: string;
  form: "program" | "address";
  command: string;
  file: string;
  snippet: string;
  afterwards: string;
  needs_token: boolean;
}

/** The client, the view and the way. */
export interface ClientEntryParams {
  client: string;
  profile?: string;
  form?: "program" | "address";
}

/** Nothing. */
export interface ClientsParams {
}

/** One command of a line, and what is not known of it; empty when it only reads. */
export interface CommandPart {
  text: string;
  doubt: string;
}

/** The talk grew too long, and its older part was shortened. */
export interface CompactedEvent {
  event: "compacted";
  before: number;
  after: number;
}

/** The config file was read again; `error` says why the last good state stays, if it does. */
export interface ConfigNews {
  seq: number;
  kind: "config";
  error: string | null;
  changed: string[];
}

/** Why the last good configuration stays. */
export interface ConfigTrouble {
  message: string;
  line: number | null;
  column: number | null;
}

/** What to do about one server whose name is taken. */
export interface Decision {
  action: "skip" | "rename" | "replace";
  name?: string;
}

/** All of them; `ok` is false when anything is broken. */
export interface Diagnosis {
  ok: boolean;
  checks: Checkup[];
}

/** A part that is not what was agreed to. */
export interface Difference {
  before: unknown;
  now: unknown;
}

/** A line of a difference. */
export interface DifferenceLine {
  kind: "same" | "added" | "removed" | "gap";
  number: number | null;
  text: string;
}

/** The server. */
export interface DisableParams {
  name: string;
}

/** How long to wait for servers that are starting. */
export interface DoctorParams {
  wait?: number;
}

/** The server. */
export interface EnableParams {
  name: string;
}

/** The end; the last event. */
export interface EndedEvent {
  event: "ended";
  chat: string;
  model: string;
  answer: string;
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "stopped" | "failed" | "interrupted";
  rounds: number;
  calls: number;
  usage: TokenUsage;
  cost: number | null;
  error: TurnError | null;
}

/** The server, its new entry as JSON, and the digest of the one that the person saw. */
export interface EntryEditParams {
  name: string;
  text: string;
  digest?: string;
}

/** The server. */
export interface EntryParams {
  name: string;
}

/** An entry as it stands in the file. */
export interface EntryText {
  name: string;
  text: string;
  digest: string;
  unknown: string[];
  line: number;
  file: string;
}

/** An entry that was changed. */
export interface EntryWritten {
  name: string;
  digest: string;
  unknown: string[];
  needs_trust: boolean;
  remarks: string[];
}

/** What would happen to a call, without running it. */
export interface Explanation {
  decision: "allow" | "ask" | "deny";
  rule: string | null;
  reasons: string[];
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
}

/** The host, the servers (all when none is named), and whether its file is written. */
export interface ExportParams {
  host: string;
  only?: string[];
  file?: string | null;
  write?: boolean;
}

/** A variable that the other host has to have. */
export interface ExportVariable {
  name: string;
  secret: string;
}

/** Our servers in the words of another host. */
export interface Exported {
  host: string;
  title: string;
  file: string;
  document: string;
  servers: ExportedServer[];
  left_out: Record<string, string>;
  changes: boolean;
  replaces: boolean;
  written: boolean;
  backup: string | null;
}

/** A server as another host has it. */
export interface ExportedServer {
  name: string;
  entry: Record<string, unknown>;
  variables: ExportVariable[];
  notes: string[];
}

/** An error as every surface shows it; `kind` names it, `hint` says what to do. */
export interface Failure {
  kind: string;
  message: string;
  hint: string;
  retryable: boolean;
  line?: number;
  column?: number;
  code?: number;
  data?: unknown;
}

/** Words, each of which stands somewhere in the name or the server's; all tools without any. */
export interface FindToolsParams {
  words?: string;
  server?: string | null;
}

/** A config file of another host. */
export interface FoundSource {
  host: string;
  title: string;
  file: string;
  table: string[];
  workspace: string | null;
  servers: string[];
  new: string[];
  problem: string;
}

/** What the gate said of a call. */
export interface GateNote {
  rule: string | null;
  number: number | null;
  reason: string;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
  decision?: "allow" | "ask" | "deny";
  asked?: string[];
  allowed?: boolean;
  scope?: "once" | "chat" | "project" | "always";
  message?: string;
  waited_ms?: number;
  judged_ms?: number;
}

/** A tool that may not be called, such as one that is not as it was approved. */
export interface HeldTool {
  tool: string;
  reason: string;
  hash: string;
  approved_hash: string | null;
  approved_at: string | null;
  changed: Record<string, Difference>;
  findings: string[];
}

/** The first of each stream; `resumed` when it goes on after the event that the page knew last. */
export interface HelloNews {
  seq: number;
  kind: "hello";
  run: string;
  resumed: boolean;
}

/** What the rail and the status line say. */
export interface HostCounts {
  servers: number;
  up: number;
  trouble: number;
  off: number;
  needs_you: number;
  tools: number;
  calls_running: number;
  chats: number;
}

/** The host that answers. */
export interface HostInfo {
  version: string;
  pid: number;
  home: string;
  user_home: string;
  address: string | null;
  gateway: string | null;
  started: string;
  config: string;
  log: string;
  switched_on: boolean;
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
  model: string | null;
  counts: HostCounts;
  today: Today;
}

/** Nothing. */
export interface HostInfoParams {
}

/** The source, what a person decided, and the digest of what they were shown. */
export interface ImportApplyParams {
  file: string;
  host?: string | null;
  table?: string[] | null;
  workspace?: string | null;
  text?: string | null;
  only?: string[];
  choices?: Record<string, Decision>;
  otherwise?: "skip" | "rename" | "replace";
  answers?: Record<string, string>;
  digest: string;
}

/** The folder of a project whose files are looked at too; the host's own where none is named. */
export interface ImportFoundParams {
  folder?: string;
}

/** What would be done, or was; `digest` names exactly what was read. */
export interface ImportPlan {
  source: ImportSource;
  servers: ImportPlanned[];
  refused: Record<string, string>;
  digest: string;
  written: boolean;
}

/** The source, and what a person decided so far. */
export interface ImportPlanParams {
  file: string;
  host?: string | null;
  table?: string[] | null;
  workspace?: string | null;
  text?: string | null;
  only?: string[];
  choices?: Record<string, Decision>;
  otherwise?: "skip" | "rename" | "replace";
  answers?: Record<string, string>;
}

export interface ImportPlanned {
  name: string;
  as: string;
  standing: "new" | "same" | "differs";
  action: "add" | "skip" | "replace";
  entry: Record<string, unknown>;
  secrets: string[];
  waiting: string[];
  questions: ImportQuestion[];
  notes: string[];
  remarks: string[];
  install: string;
}

/** A value that only the person knows. */
export interface ImportQuestion {
  id: string;
  text: string;
  secret: boolean;
  default: string | null;
  choices: string[];
  required: boolean;
  multiple: boolean;
}

/** Where servers come from. */
export interface ImportSource {
  host: string | null;
  title: string;
  file: string;
}

/** What to install and how; without a reference, what the entry of `name` asks for, again. */
export interface InstallParams {
  name?: string;
  reference?: string;
  args?: string[];
  env?: Record<string, string>;
  secrets?: Record<string, string>;
  answers?: Record<string, unknown>;
  extra?: Record<string, unknown>;
  allow_scripts?: string[];
  allow_build?: string[];
  also?: string[];
  program?: string | null;
  python?: string | null;
  offline?: boolean;
  replace?: boolean;
  dry_run?: boolean;
  fetch_runtime?: boolean;
  agreed?: string | null;
  wait?: number;
}

/** What would happen; `digest` names exactly this plan. */
export interface InstallPlan {
  digest: string;
  reference: string;
  package: string;
  version: string;
  published: string | null;
  place: string;
  command: string[];
  fetches: string[];
  runtimes: string[];
  incomplete: boolean;
  copies: string;
  scripts_refused: string[];
  scripts_allowed: string[];
  builds: string[];
  remarks: string[];
  questions: PlanQuestion[];
  free_bytes: number | null;
}

/** One thing that is under way; `total` is 0 where nobody knows how much there is. */
export interface InstallStep {
  stage: "runtime" | "resolve" | "fetch" | "copy" | "scripts" | "build" | "activate";
  detail: string;
  done: number;
  total: number;
}

/** One version that is in place. */
export interface InstalledVersion {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
}

/** A version that lies here; one of them is active. */
export interface KeptVersion {
  version: string;
  installed_at: string;
  active: boolean;
  package: string;
}

/** An MCP client that can be connected. */
export interface KnownClient {
  client: string;
  title: string;
  file: string;
  found: boolean;
  connected: boolean | null;
  names: string[];
  problem: string;
}

/** One argument, whole. */
export interface LaunchArgument {
  text: string;
  outside: boolean;
}

/** A part of what runs that is not what was agreed to. */
export interface LaunchChange {
  part: string;
  before: string | null;
  now: string | null;
}

/** The server. */
export interface LaunchParams {
  name: string;
}

/** What would run while installing. */
export interface LaunchScripts {
  allowed: string[];
  refused: string[];
  built: string[];
}

/** What would run or be reached, as a person sees it before saying yes; `mark` names exactly this. */
export interface LaunchShown {
  name: string;
  type: string;
  program: string;
  arguments: LaunchArgument[];
  folder: string;
  url: string;
  headers: string[];
  touches: string[];
  inherits: string[];
  sets: LaunchArgument[];
  scripts: LaunchScripts;
  fetches: string[];
  copies: string;
  installed: boolean;
  remarks: string[];
  changed: LaunchChange[];
  agreed: string | null;
  trusted: boolean;
  mark: string;
}

/** A page that has a key. */
export interface LetInPage {
  id: string;
  name: string;
  made_at: string;
  used_at: string;
}

/** Some more lines. */
export interface LogBatch {
  lines: string[];
}

/** One more line. */
export interface LogLine {
  line: string;
}

/** The last lines that a server wrote to stderr, oldest first. */
export interface LogLines {
  server: string;
  lines: string[];
}

/** The server, and how long the person may take. */
export interface LoginParams {
  name: string;
  patience?: number;
  wait?: number;
}

/** The server. */
export interface LogoutParams {
  name: string;
}

/** The server, how many of its last lines, and whether to go on; `batch` tells of many lines at once. */
export interface LogsParams {
  name: string;
  count?: number;
  follow?: boolean;
  batch?: boolean;
}

/** A well-known package whose name is nearly the pasted one. */
export interface LookAlike {
  name: string;
  reference: string;
  letters: number;
  listed: boolean;
}

/** Whether anything runs at all. */
export interface MasterSwitch {
  enabled: boolean;
}

/** What of a tool fits a question. */
export interface MatchReason {
  field: string;
  terms: string[];
  score: number;
}

/** What one turn of a chat took. */
export interface ModelRequest {
  chat: string;
  title: string;
  time: string;
  model: string;
  ending: string;
  rounds: number;
  input: number;
  output: number;
  cached: number;
  cost: number | null;
}

/** Turns, the latest first. */
export interface ModelRequests {
  turns: ModelRequest[];
  more: boolean;
  input: number;
  output: number;
  cost: number | null;
  days: number;
}

/** How many. */
export interface ModelRequestsParams {
  limit?: number;
}

/** A model that answered. */
export interface ModelTried {
  model: string;
  answer: string;
  ms: number;
}

/** The model, and a key under the name by which its vendor is asked; the key is not kept. */
export interface ModelTryParams {
  model: string;
  key_name?: string;
  key?: string;
  timeout?: number;
}

/** What there is to ask; `model` is asked when nobody says otherwise. */
export interface Models {
  model: string | null;
  vendors: Vendor[];
}

/** Nothing. */
export interface ModelsParams {
}

/** A word that may have been meant, and where it stands. */
export interface NearWord {
  word: string;
  tools: number;
  servers: string[];
}

/** A value that only the person knows. */
export interface Needed {
  key: string;
  title: string;
  description: string;
  kind: "string" | "number" | "boolean" | "directory" | "file";
  secret: boolean;
  required: boolean;
  default: string;
  choices: string[];
  multiple: boolean;
}

/** A version that was just put in place. */
export interface NewlyInstalled {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
  path: string;
  replaced: string | null;
}

/** Something that happened to the turn. */
export interface NoteItem {
  kind: "note";
  position: number;
  note: "stopped" | "failed" | "shortened" | "notice" | "continued";
  text: string;
  time: string | null;
}

/** Something that the user should know and that does not end the turn. */
export interface NoticeEvent {
  event: "notice";
  text: string;
}

/** Something was done; `undo` names an operation and its params that take it back. */
export interface NoticeNews {
  seq: number;
  kind: "notice";
  text: string;
  undo: Record<string, unknown> | null;
}

/** Nothing. */
export interface OffParams {
}

/** From now on the model can call these too. */
export interface OfferedEvent {
  event: "offered";
  tools: OfferedTool[];
  note: string;
  of: number;
}

/** A tool that the model could call, and why. */
export interface OfferedTool {
  tool: string;
  server: string | null;
  name: string;
  why: string;
  tokens: number;
}

/** Nothing. */
export interface OnParams {
}

/** One server, or all. */
export interface OutdatedParams {
  name?: string | null;
}

/** All servers at a glance, in the order of the file. */
export interface Overview {
  switched_on: boolean;
  switched_at: string | null;
  ended: number | null;
  config_error: ConfigTrouble | null;
  built_in: BuiltIn[];
  servers: ServerGlance[];
}

/** Nothing. */
export interface OverviewParams {
}

/** Where to send a browser; the address works once, and soon. */
export interface PageAddress {
  url: string;
}

/** Nothing. */
export interface PageAddressParams {
}

/** Which, by the id that `pages` shows. */
export interface PageRevokeParams {
  id: string;
}

/** Nothing. */
export interface PagesParams {
}

/** An image that belongs to the question. */
export interface Picture {
  data: string;
  mime?: string;
}

/** A picture, as base64. */
export interface PictureData {
  mime: string;
  data: string;
}

/** A picture that can be fetched. */
export interface PictureInfo {
  mime: string;
  bytes: number;
}

/** Something that only the person knows, and that the server needs. */
export interface PlanQuestion {
  key: string;
  title: string;
  description: string;
  kind: "string" | "number" | "boolean" | "directory" | "file";
  required: boolean;
  default: unknown;
  multiple: boolean;
  secret: boolean;
  choices: string[];
  minimum: number | null;
  maximum: number | null;
}

/** When a person is asked, and the rules. */
export interface Policy {
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
  modes: Record<string, "always" | "on_miss" | "on_rule" | "plan" | "session" | "off">;
  rules: PolicyRule[];
  built_in: string[];
  broken: BrokenRule[];
}

/** The rule, as `policy_list` shows one. */
export interface PolicyAddParams {
  rule?: Record<string, unknown>;
}

/** The id of the rule as it is, and the rule as it is to be. */
export interface PolicyEditParams {
  id: string;
  rule?: Record<string, unknown>;
}

/** The call; on whose behalf, in which mode, and in which project. */
export interface PolicyExplainParams {
  tool: string;
  arguments?: Record<string, unknown>;
  principal?: string;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
  project?: string;
}

/** Nothing. */
export interface PolicyListParams {
}

/** The id of the rule. */
export interface PolicyRemoveParams {
  id: string;
}

/** A rule and what is known of it. */
export interface PolicyRule {
  id: string;
  effect: "allow" | "ask" | "deny";
  server?: string;
  tool?: string;
  arguments?: Record<string, RulePattern>;
  closed?: boolean;
  exact?: boolean;
  definition?: string;
  scope?: "once" | "chat" | "project" | "always";
  within?: string;
  why?: string;
  examples?: RuleExamples;
  number: number;
  words: string;
  place: string;
  enabled: boolean;
  used: number;
  last_used: string | null;
  asleep: string | null;
}

/** The id of the rule, and whether it is to hold. */
export interface PolicySwitchParams {
  id: string;
  enabled: boolean;
}

/** The view. */
export interface ProfileAddParams {
  name: string;
  servers?: string[];
  tools?: string[];
  read_only?: boolean;
  search?: boolean;
  plain_names?: boolean;
  k?: number | null;
  always_on?: string[] | null;
  replace?: boolean;
}

/** Nothing. */
export interface ProfileListParams {
}

/** The view. */
export interface ProfileRemoveParams {
  name: string;
}

/** A view that is gone. */
export interface ProfileRemoved {
  name: string;
  removed: boolean;
}

/** A view; the one without a name is the whole crib. */
export interface ProfileShown {
  name: string;
  path: string;
  servers: string[];
  tools: string[];
  read_only: boolean;
  search: boolean;
  plain_names: boolean;
  k: number;
  always_on: string[];
  token: boolean;
  token_tail: string;
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
}

/** The view, by name or without one, and the hash of its token; empty takes the token away. `tail` is shown to tell the token from others. */
export interface ProfileTokenParams {
  name?: string;
  token_hash?: string;
  tail?: string;
}

/** A tool tells how far it is. */
export interface ProgressEvent {
  event: "progress";
  id: string;
  progress: number;
  total: number | null;
  message: string | null;
}

/** What is to be added. */
export interface ProposeParams {
  text?: string;
  entry?: Record<string, unknown> | null;
  reference?: string;
  args?: string[];
  name?: string;
  answers?: Record<string, string>;
  as_is?: boolean;
  allow_scripts?: string[];
  allow_build?: string[];
}

/** What adding would do; `plan` is to be handed to `admit`, empty where nothing is installed. */
export interface Proposed {
  name: string;
  launch: LaunchShown | null;
  entry: Record<string, unknown>;
  secrets: string[];
  needed: Needed[];
  missing: string[];
  plan: string;
  package: string;
  version: string;
  ms: number;
}

/** What was asked; the first event. A call that the person runs again has no words. */
export interface QuestionEvent {
  event: "question";
  text: string | null;
  images: PictureData[];
  pictures: number;
  time: string;
}

/** The question's id. */
export interface QuestionShowParams {
  id: string;
}

/** The question, and how many tools to show. */
export interface RankParams {
  query?: string;
  limit?: number;
}

/** A tool in its place for a question. */
export interface RankedTool {
  name: string;
  server: string | null;
  tool: string;
  title: string;
  description: string;
  tokens: number;
  standing: "ready" | "off" | "held" | "away";
  why_not: string;
  always_on: boolean;
  reads: boolean;
  gate: "allow" | "ask" | "deny";
  fit: number;
  by_words: number;
  by_meaning: number;
  by_name: number;
  words: string[];
  used: number;
  offered: boolean;
}

/** What a model would be offered for a question, and what comes after that. */
export interface Ranking {
  query: string;
  tools: RankedTool[];
  k: number;
  always_on: number;
  all_offered: boolean;
  offer_all: number;
  offered: number;
  offered_tokens: number;
  all_tokens: number;
  ready: number;
  known: number;
  servers: number;
  ranked: number;
  ms: number;
  note: string;
}

/** The text. */
export interface RecogniseParams {
  text: string;
  as_is?: boolean;
}

/** What was pasted; nothing was run, fetched or written to find out. */
export interface Recognised {
  kind: "nothing" | "command-npm" | "command-pypi" | "command-docker" | "command" | "npm" | "pypi" | "bundle" | "file" | "folder" | "address" | "link" | "document" | "ambiguous";
  servers: RecognisedServer[];
  alternatives: string[];
  refused: Record<string, string>;
  problem: string;
  hint: string;
  file: string;
  text: string | null;
  host: string | null;
  digest: string;
}

/** One server of a paste. */
export interface RecognisedServer {
  name: string;
  taken: boolean;
  standing: "new" | "same" | "differs";
  way: "install" | "run" | "connect";
  reference: string;
  package: string;
  version: string;
  words: string[];
  url: string;
  secrets: string[];
  needed: Needed[];
  lookalike: LookAlike | null;
  notes: string[];
}

/** The server, and for how long it can be brought back; 0 leaves its files and secrets where they are. */
export interface RemoveParams {
  name: string;
  undo?: number;
}

/** A question that was answered. */
export interface ReplyTaken {
  id: string;
}

/** Something was missed: fetch everything anew. */
export interface ResetNews {
  seq: number;
  kind: "reset";
}

/** The server. */
export interface RestartParams {
  name: string;
}

/** The server. */
export interface RestoreParams {
  name: string;
}

/** A tool answered, or did not. */
export interface ResultEvent {
  event: "result";
  id: string;
  tool: string;
  server: string | null;
  name: string;
  arguments: Record<string, unknown>;
  outcome: "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | "running" | "interrupted";
  ms: number;
  text: string;
  images: number;
  rule: string;
}

/** A page that has one no more. */
export interface Revoked {
  id: string;
  revoked: boolean;
}

/** The server; `to` names a version, else it is the one installed before. */
export interface RollbackParams {
  name: string;
  to?: string | null;
}

/** The version that was made active again. */
export interface RolledBack {
  name: string;
  active: InstalledVersion;
  before: InstalledVersion | null;
  server: Server | null;
}

/** The model has spoken once; `text` is all that it said. */
export interface RoundEvent {
  event: "round";
  round: number;
  usage: TokenUsage;
  text: string;
}

/** Arguments that the rule must speak of, and others that it must not. */
export interface RuleExamples {
  match?: Record<string, unknown>[];
  not_match?: Record<string, unknown>[];
  [key: string]: unknown;
}

/** What an argument must be: just this value, text like this, a path in this folder, or anything. */
export interface RulePattern {
  equals?: unknown;
  like?: string;
  under?: string;
  any?: true;
  [key: string]: unknown;
}

/** A rule that is gone; `policy_add` brings `rule` back, null where it could not be read. */
export interface RuleRemoved {
  id: string;
  removed: boolean;
  rule: RuleShown | null;
}

/** A rule as it stands in the file; what says nothing is left out. */
export interface RuleShown {
  id: string;
  effect: "allow" | "ask" | "deny";
  server?: string;
  tool?: string;
  arguments?: Record<string, RulePattern>;
  closed?: boolean;
  exact?: boolean;
  definition?: string;
  scope?: "once" | "chat" | "project" | "always";
  within?: string;
  why?: string;
  examples?: RuleExamples;
  [key: string]: unknown;
}

/** A rule that is in force now, or is no more. */
export interface RuleSwitched {
  id: string;
  enabled: boolean;
}

/** The very rule that an answer of a scope would write, as text. */
export interface RuleTexts {
  allow: string;
  deny: string;
  [key: string]: unknown;
}

/** The rule that a yes would write, and where it holds. */
export interface RuleWords {
  rule: string;
  place: string;
}

/** A call that has not ended. */
export interface RunningCall {
  call_id: string;
  time: string;
  tool: string;
  server: string | null;
  name: string;
  who: Who;
  state: "running" | "asking" | "waiting";
  began: string | null;
  question: string | null;
  arguments: string;
  gate: GateNote | null;
}

/** So many calls run. */
export interface RunningNews {
  seq: number;
  kind: "running";
  count: number;
}

/** The latest turn as it is told: go on with what comes after `n`. Of one that is over, no events. */
export interface RunningTurn {
  turn: string;
  n: number;
  running: boolean;
  events: (QuestionEvent | BeganEvent | OfferedEvent | WordsEvent | AgainEvent | NoticeEvent | BusyEvent | CallEvent | ProgressEvent | ResultEvent | CallAskingEvent | ServerAskingEvent | AnsweredEvent | CompactedEvent | RoundEvent | EndedEvent)[];
}

/** What to look for, how many to return, and how long to wait for servers that start. */
export interface SearchParams {
  query?: string;
  k?: number | null;
  wait?: number;
}

/** Words, all servers without any; `registry` is asked too unless it is switched off. */
export interface SearchServersParams {
  query?: string;
  limit?: number;
  registry?: boolean;
}

/** A secret and who uses it; `place` is None for one that is not stored. */
export interface SecretInfo {
  name: string;
  place: "keyring" | "file" | null;
  servers: string[];
}

/** Nothing. */
export interface SecretListParams {
}

/** The secret. */
export interface SecretRemoveParams {
  name: string;
}

/** A secret that is gone, and the servers that still refer to it. */
export interface SecretRemoved {
  name: string;
  removed: boolean;
  servers: string[];
}

/** The secret. */
export interface SecretSetParams {
  name: string;
  value: string;
}

/** A secret that was stored; the servers that use it were started again. */
export interface SecretStored {
  name: string;
  place: "keyring" | "file";
  restarted: string[];
}

/** A server; `reason` says why it is in its state, `hint` what to do. */
export interface Server {
  name: string;
  type: string;
  enabled: boolean;
  state: "disabled" | "starting" | "ready" | "degraded" | "backoff" | "failed" | "needs-auth" | "needs-config" | "needs-trust";
  reason: string;
  hint: string;
  pid: number | null;
  era: string | null;
  version: string | null;
  tools: number;
  last_connected: string | null;
  restarts: number;
  retry_at: string | null;
  junk_lines: number;
  stale_tools: boolean;
  last_failure: string | null;
  calls: ServerCalls;
}

/** An entry that was written. */
export interface ServerAdded {
  name: string;
  type: string;
  enabled: boolean;
  entry: Record<string, unknown>;
  remarks: string[];
  findings: string[];
  secrets: string[];
  server: Server | null;
}

/** A server asks the person or the model for something. */
export interface ServerAskingEvent {
  event: "asking";
  about: "sampling" | "elicitation";
  id: string;
  server: string;
  text: string;
  call: string | null;
  detail: Record<string, unknown>;
}

/** The same of a server, and of each of its tools that was called. */
export interface ServerCalls {
  total: number;
  errors: number;
  in_flight: number;
  p50_ms: number | null;
  p95_ms: number | null;
  max_ms: number | null;
  tools: ToolCalls[];
}

/** A server that is configured; the type of a broken entry is None. */
export interface ServerChecked {
  server: string;
  type: string | null;
}

/** What is measured or counted only when somebody looks at one server. */
export interface ServerFacts {
  name: string;
  memory: number | null;
  last_used: string | null;
  calls_today: number;
  failed_today: number;
}

/** The server. */
export interface ServerFactsParams {
  name: string;
}

/** A server as a list shows it. */
export interface ServerGlance {
  name: string;
  type: string;
  enabled: boolean;
  state: "disabled" | "starting" | "ready" | "degraded" | "backoff" | "failed" | "needs-auth" | "needs-config" | "needs-trust";
  reason: string;
  hint: string;
  retry_at: string | null;
  since: string | null;
  up_since: string | null;
  pid: number | null;
  version: string | null;
  restarts: number;
  attempt: number | null;
  attempts: number | null;
  source: ServerSource;
  newest: string | null;
  touches: string[];
  tools: number;
  tokens: number | null;
  held: string[];
  missing: string[];
  bars: CallBar[];
  typical_ms: number | null;
  in_flight: number;
  stale_tools: boolean;
  junk_lines: number;
  last_failure: string | null;
}

/** A server that was installed, or would be. */
export interface ServerInstalled {
  name: string;
  type: string;
  enabled: boolean;
  entry: Record<string, unknown>;
  remarks: string[];
  findings: string[];
  secrets: string[];
  server: Server | null;
  plan: InstallPlan;
  installed: NewlyInstalled | null;
}

/** A server moved to another state. */
export interface ServerNews {
  seq: number;
  kind: "server";
  server: Server;
}

/** A server that is gone; for `undo` seconds `restore` brings it back. */
export interface ServerRemoval {
  name: string;
  removed: boolean;
  backup: string;
  unused_secrets: string[];
  undo?: number;
}

/** A server is no longer configured. */
export interface ServerRemovedNews {
  seq: number;
  kind: "server_removed";
  name: string;
}

/** A server that is back. */
export interface ServerRestored {
  name: string;
  trusted: boolean;
}

/** Where a server comes from; `text` is a package, a program, a folder or an address. */
export interface ServerSource {
  kind: "npm" | "pypi" | "folder" | "bundle" | "command" | "address" | "in process";
  text: string;
  version: string | null;
  imported_from: string;
}

/** Another version of a server, or the plan for it. */
export interface ServerUpdated {
  name: string;
  updated: boolean;
  before: InstalledVersion;
  plan: InstallPlan | null;
  installed: NewlyInstalled | null;
  server: Server | null;
}

/** How long to wait for servers that are starting; those that take longer are shown as they are. */
export interface ServersParams {
  wait?: number;
}

/** A setting as it holds from now on. */
export interface SettingSaved {
  key: string;
  value: unknown;
  before: unknown;
  command: string;
}

/** A dotted name such as `retrieval.k`, and the value; null goes back to the default. */
export interface SettingsSetParams {
  key: string;
  value?: unknown;
}

/** Nothing. */
export interface SettingsShowParams {
}

/** All settings as they hold now, under the names of the file. */
export interface SettingsShown {
  settings: Record<string, unknown>;
  given: string[];
  known: string[];
  file: string;
}

/** The same as for `admit`; the mark is also the person's word that exactly this may run. */
export interface SetupAddParams {
  text?: string;
  entry?: Record<string, unknown> | null;
  reference?: string;
  args?: string[];
  name?: string;
  answers?: Record<string, string>;
  as_is?: boolean;
  allow_scripts?: string[];
  allow_build?: string[];
  mark: string;
  plan?: string;
  found_ms?: number;
  type?: string;
}

/** The server. */
export interface SetupForgetParams {
  name: string;
}

/** Whether it is gone now; one that is under way is not. */
export interface SetupForgotten {
  name: string;
  forgotten: boolean;
}

/** Its outcome has been seen. */
export interface SetupForgottenNews {
  seq: number;
  kind: "setup_forgotten";
  name: string;
}

/** Work on a server that goes on by itself came further, or ended. */
export interface SetupNews {
  seq: number;
  kind: "setup";
  setup: SetupShown;
}

/** How far it is; it goes on when nobody looks. */
export interface SetupShown {
  name: string;
  kind: "add" | "trust" | "test" | "update";
  state: "running" | "ok" | "failed" | "stopped";
  installing: boolean;
  source: ServerSource | null;
  began: string;
  ended: string | null;
  steps: SetupStepShown[];
  done: number;
  total: number;
  error: Failure | null;
  review: string[];
  tools: number;
  log: string[];
}

/** One step; `ms` is how long it took, once it is over. */
export interface SetupStepShown {
  key: "resolve" | "install" | "start" | "connect" | "handshake" | "list" | "review";
  state: "wait" | "work" | "done" | "fail";
  detail: string;
  ms: number | null;
  began: string | null;
}

/** The server. */
export interface SetupStopParams {
  name: string;
}

/** The server. */
export interface SetupTestParams {
  name: string;
}

/** The server, and the mark of what a person was shown and agreed to. */
export interface SetupTrustParams {
  name: string;
  mark: string;
}

/** The server, the version, and the digest of the plan that was shown. */
export interface SetupUpdateParams {
  name: string;
  to?: string | null;
  agreed: string;
}

/** Nothing. */
export interface SetupsParams {
}

/** A tool in a list. */
export interface ShelfTool {
  name: string;
  server: string | null;
  tool: string;
  title: string;
  description: string;
  tokens: number;
  standing: "ready" | "off" | "held" | "away";
  why_not: string;
  always_on: boolean;
  reads: boolean;
  gate: "allow" | "ask" | "deny";
}

/** Where the person signs in. */
export interface SignInPage {
  open: string;
}

/** The token of a one-time address. */
export interface SignInParams {
  token: string;
}

/** Nothing. */
export interface SignOutParams {
}

/** The key that a page sends from now on. */
export interface SignedIn {
  key: string;
}

/** A sign-in that worked. */
export interface SignedInTo {
  name: string;
  issuer: string;
  scope: string | null;
  expires_in: number | null;
  renews: boolean;
  server: Server | null;
}

/** The page's key is no good any more. */
export interface SignedOut {
  signed_out: boolean;
}

/** A sign-in that was forgotten. */
export interface SignedOutOf {
  name: string;
  was_signed_in: boolean;
}

/** The server. */
export interface StartParams {
  name: string;
}

/** The server. */
export interface StopParams {
  name: string;
}

/** A server that was switched on or off. */
export interface Switched {
  name: string;
  enabled: boolean;
  server: Server | null;
}

/** The server. */
export interface TestParams {
  name: string;
}

/** What the model said. */
export interface TextItem {
  kind: "text";
  position: number;
  text: string;
}

/** The reasoning that an interrupted answer had shown. */
export interface ThinkingItem {
  kind: "thinking";
  position: number;
  text: string;
}

/** What models took since midnight; the cost in dollars, None where no price is known. */
export interface Today {
  tokens: number;
  input: number;
  output: number;
  cost: number | null;
}

/** Tokens, as the vendor counts them. */
export interface TokenUsage {
  input: number;
  output: number;
  cached: number;
  requests: number;
  written?: number;
}

/** How the calls of one tool went since the host began; times in milliseconds. */
export interface ToolCalls {
  name: string;
  total: number;
  errors: number;
  in_flight: number;
  p50_ms: number | null;
  p95_ms: number | null;
  max_ms: number | null;
}

/** All that is known of a tool. */
export interface ToolDetails {
  name: string;
  server: string | null;
  tool: string;
  title: string;
  description: string;
  tokens: number;
  standing: "ready" | "off" | "held" | "away";
  why_not: string;
  always_on: boolean;
  reads: boolean;
  gate: "allow" | "ask" | "deny";
  origin: "native" | "inline" | "mcp";
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown> | null;
  annotations: Record<string, unknown>;
  definition: string;
  hash: string;
  first_seen: string | null;
  last_changed: string | null;
  changes: string[];
  differences: ToolPart[];
  calls: number;
  reasons: string[];
  rule: string | null;
  can_switch: boolean;
}

/** A tool and where it comes from. */
export interface ToolInfo {
  name: string;
  server: string | null;
  original_name: string;
  origin: "native" | "inline" | "mcp";
  description: string;
  inputSchema: Record<string, unknown>;
  enabled: boolean;
  tokens: number;
  hash: string;
  stale: boolean;
  annotations: Record<string, unknown>;
  first_seen: string | null;
  last_changed: string | null;
  changes: string[];
}

/** A tool that fits a question. */
export interface ToolMatch {
  name: string;
  server: string | null;
  description: string;
  score: number;
  kind: "always on" | "match" | "just used";
  reasons: MatchReason[];
}

/** A part of a definition before and after a change, as JSON. */
export interface ToolPart {
  part: string;
  before: string;
  after: string;
}

/** The tools for a question, the best first. */
export interface ToolSearch {
  query: string;
  tools: ToolMatch[];
  searched: number;
  note: string;
}

/** A tool as it is offered from now on. */
export interface ToolSet {
  name: string;
  enabled: boolean;
  always_on: boolean;
  timeout: number | null;
}

/** The tool, and what is to change; what is left out stays as it is. */
export interface ToolSetParams {
  name: string;
  enabled?: boolean | null;
  always_on?: boolean | null;
  timeout?: number | null;
}

/** The public name. */
export interface ToolShowParams {
  name: string;
}

/** Tools by name. */
export interface ToolsFound {
  tools: ShelfTool[];
  near: NearWord | null;
  ready: number;
  known: number;
  servers: number;
}

/** There are other tools now, of one server or of several. */
export interface ToolsNews {
  seq: number;
  kind: "tools";
  version: number;
  server: string | null;
}

/** Which server's, and whether those that are switched off too. */
export interface ToolsParams {
  server?: string | null;
  disabled?: boolean;
  wait?: number;
}

/** How a second instance of a server was started, step by step. */
export interface Trial {
  ok: boolean;
  steps: TrialStep[];
  review: string[];
  tools: number;
  error?: Failure;
  remedy?: TrialRemedy;
}

/** With which options the server would have to be installed again. */
export interface TrialRemedy {
  reason: string;
  option: "also" | "allow_scripts";
  values: string[];
  command: string;
}

/** One step of a trial; the first that fails is the last. */
export interface TrialStep {
  name: "resolve" | "spawn" | "connect" | "handshake" | "list";
  ok: boolean;
  ms: number;
  detail: string;
  hint?: string;
}

/** What a tool answered that was tried. */
export interface Tried {
  tool: string;
  outcome: "ok" | "tool_error";
  ms: number;
  result: CallResult;
}

/** Those that were asked for, or all that wait. */
export interface TrustAnswer {
  servers: TrustShown[];
}

/** The servers, all that wait when none is named; `agree` holds the marks of what a person agreed to. */
export interface TrustParams {
  names?: string[];
  agree?: Record<string, string>;
}

/** What a server would run; a person agrees to its `mark`, which names exactly this. */
export interface TrustShown {
  name: string;
  trusted: boolean;
  launch: Record<string, unknown>;
  changed: Record<string, Difference>;
  remarks: string[];
  tools: HeldTool[];
  mark: string;
  server: Server | null;
}

/** A question was answered. */
export interface TryAnswered {
  answered: string;
  allowed: boolean;
}

/** A person has to say whether the call may run; `chat_reply` answers it. */
export interface TryAsking {
  asking: CallQuestion;
}

/** The tool's server asks the user, or wants to ask the model; `chat_reply` answers it. */
export interface TryServerAsking {
  server_asking: ServerAskingEvent;
}

/** The tool and its arguments; `project` is the folder that it works in. */
export interface TryToolParams {
  tool: string;
  arguments?: Record<string, unknown>;
  timeout?: number | null;
  project?: string;
}

/** Why a turn failed. */
export interface TurnError {
  kind: string;
  message: string;
  hint: string;
}

/** A turn that goes on by itself. */
export interface TurnStarted {
  chat: string;
  turn: string;
}

/** A turn that was stopped; nothing of it is left running. */
export interface TurnStopped {
  chat: string;
  turn: string | null;
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "stopped" | "failed" | "interrupted" | null;
}

/** The server. */
export interface UninstallParams {
  name: string;
  dry_run?: boolean;
}

/** A server whose files are gone; `removed` tells of its entry. */
export interface Uninstalled {
  name: string;
  removed: boolean;
  versions: string[];
  backup: string | null;
  unused_secrets: string[];
}

/** The server, and which version: the newest, one of this number, or another file. */
export interface UpdateParams {
  name: string;
  to?: string | null;
  reference?: string | null;
  allow_scripts?: string[];
  allow_build?: string[];
  offline?: boolean;
  dry_run?: boolean;
  fetch_runtime?: boolean;
  agreed?: string | null;
}

/** A vendor as far as it can be asked from here; `key` is a name, never a value. */
export interface Vendor {
  vendor: string;
  title: string;
  address: string;
  keys: string[];
  key: string | null;
  place: "environment" | "secret" | null;
  ready: boolean;
  models: string[];
  tried: VendorTrial | null;
}

/** How a vendor answered when it was last tried, since the host began. */
export interface VendorTrial {
  at: string;
  model: string;
  ms: number | null;
  refused: boolean;
  reason: string;
}

/** The active version of a server, and whether there is a newer one. */
export interface VersionLook {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
  name: string;
  newest: string | null;
  outdated: boolean;
  error: Failure | null;
  kept: InstalledVersion[];
}

/** The server. */
export interface VersionsParams {
  name: string;
}

/** Who came by a view of the gateway. */
export interface ViewUse {
  name: string;
  today: number;
  last_call: string | null;
}

/** Nothing. */
export interface ViewUseParams {
}

/** Everything that waits, what holds up work first, then the oldest first. */
export interface Waiting {
  count: number;
  items: WaitingItem[];
}

/** One thing that waits: names to make a sentence of, and where to go. */
export interface WaitingItem {
  kind: "call" | "sampling" | "elicitation" | "trust" | "sign-in" | "value" | "changed";
  id: string | null;
  durable: boolean;
  server: string | null;
  tool: string | null;
  chat: string | null;
  chat_title: string | null;
  principal: string | null;
  reason: string;
  tools: string[];
  detail: Record<string, unknown>;
  since: string | null;
}

/** Something else waits for a person now; `waiting` gives the whole. */
export interface WaitingNews {
  seq: number;
  kind: "waiting";
  count: number;
  oldest: WaitingItem | null;
}

/** Nothing. */
export interface WaitingParams {
}

/** Why the last good configuration stays. */
export interface WatchedConfig {
  config_error: string;
}

/** A server that is gone. */
export interface WatchedRemoval {
  removed: string;
}

/** A server, as it is now. */
export interface WatchedServer {
  server: Server;
}

/** On whose behalf a call was made. */
export interface Who {
  kind: "chat" | "page" | "gateway" | "workflow" | "python" | "terminal" | "other";
  name: string;
  session: string | null;
}

/** One argument: `text` is typed by the schema, `value` is taken as it is. */
export interface Word {
  key: string;
  text?: string | null;
  value?: unknown;
}

/** More words of the answer, or of what the model thinks. */
export interface WordsEvent {
  event: "text" | "thinking";
  text: string;
}

export type CallOutcome = "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | "running" | "interrupted";

export type ChatEvent = QuestionEvent | BeganEvent | OfferedEvent | WordsEvent | AgainEvent | NoticeEvent | BusyEvent | CallEvent | ProgressEvent | ResultEvent | CallAskingEvent | ServerAskingEvent | AnsweredEvent | CompactedEvent | RoundEvent | EndedEvent;

export type ChatState = "empty" | "running" | "asking" | "done" | "stopped" | "failed" | "interrupted";

export type Effect = "allow" | "ask" | "deny";

export type EntryForm = "program" | "address";

export type ImportStanding = "new" | "same" | "differs";

export type Lift = "tool" | "turn" | "session";

export type Mode = "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";

export type News = HelloNews | ResetNews | ServerNews | ServerRemovedNews | ToolsNews | CallNews | CallsNews | RunningNews | ConfigNews | SetupNews | SetupForgottenNews | WaitingNews | ChatNews | NoticeNews;

export type Origin = "native" | "inline" | "mcp";

export type Outcome = "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed";

export type PasteKind = "nothing" | "command-npm" | "command-pypi" | "command-docker" | "command" | "npm" | "pypi" | "bundle" | "file" | "folder" | "address" | "link" | "document" | "ambiguous";

export type Scope = "once" | "chat" | "project" | "always";

export type SecretPlace = "keyring" | "file";

export type SourceKind = "npm" | "pypi" | "folder" | "bundle" | "command" | "address" | "in process";

export type Standing = "ready" | "off" | "held" | "away";

export type State = "disabled" | "starting" | "ready" | "degraded" | "backoff" | "failed" | "needs-auth" | "needs-config" | "needs-trust";

export type TryEvent = CallProgress | TryAsking | TryServerAsking | TryAnswered;

export type TurnEnding = "answered" | "budget" | "cut" | "refused" | "filtered" | "stopped" | "failed" | "interrupted";

export type TurnItem = TextItem | ThinkingItem | CallItem | NoteItem;

export type WaitingKind = "call" | "sampling" | "elicitation" | "trust" | "sign-in" | "value" | "changed";

export type Watched = WatchedServer | WatchedRemoval | WatchedConfig;

export type WhoKind = "chat" | "page" | "gateway" | "workflow" | "python" | "terminal" | "other";

/** Everything that can be asked of the host. */
export interface Operations {
  /** Write a new server into the config file, its secrets into the store, and let it start. */
  add: {
    params: AddParams;
    event: unknown;
    result: ServerAdded;
  };
  /** Add a server just as it was proposed. it waits for a person's word: adding is not trusting. */
  admit: {
    params: AdmitParams;
    event: InstallStep;
    result: Admitted;
  };
  /** Say yes or no to a question that waits. */
  approval_answer: {
    params: ApprovalAnswerParams;
    event: unknown;
    result: ApprovalAnswered;
  };
  /** The questions that nobody was there to answer. */
  approvals: {
    params: ApprovalsParams;
    event: unknown;
    result: ApprovalQuestion[];
  };
  /** The calls that went through the door, newest first. */
  audit: {
    params: AuditParams;
    event: unknown;
    result: CallRecorded[];
  };
  /** Run one tool, through the same door as everybody else. */
  call: {
    params: CallParams;
    event: CallProgress;
    result: CallResult;
  };
  /** Run a tool in a chat by hand, as the chat's own calls run: under the gate, and kept. */
  call_again: {
    params: CallAgainParams;
    event: unknown;
    result: TurnStarted;
  };
  /** How many calls there were of late, and how they went. */
  call_counts: {
    params: CallCountsParams;
    event: unknown;
    result: CallCounts;
  };
  /** How one call went: who asked, what the gate and the person said, which server. */
  call_path: {
    params: CallPathParams;
    event: unknown;
    result: CallPath;
  };
  /** Stop one call of a running turn, which goes on without it; the model is told. */
  call_stop: {
    params: CallStopParams;
    event: unknown;
    result: CallStopped;
  };
  /** The record of calls by words, page by page, each with who asked and what the gate said. */
  calls: {
    params: CallsParams;
    event: unknown;
    result: Calls;
  };
  /** The calls that have not ended, and those that wait for a person. */
  calls_running: {
    params: CallsRunningParams;
    event: unknown;
    result: RunningCall[];
  };
  /** The talk is over for now; what ran for it alone ends. the chat itself stays. */
  chat_close: {
    params: ChatCloseParams;
    event: unknown;
    result: ChatClosed;
  };
  /** Continue the last answer of a chat, which was interrupted, stopped or failed. */
  chat_continue: {
    params: ChatContinueParams;
    event: unknown;
    result: TurnStarted;
  };
  /** Put a chat away; `chat_restore` brings it back for a while. */
  chat_delete: {
    params: ChatDeleteParams;
    event: unknown;
    result: ChatSummary;
  };
  /** A chat as a file to keep or to hand on, as markdown or json. */
  chat_export: {
    params: ChatExportParams;
    event: unknown;
    result: ChatExport;
  };
  /** A new chat that begins as another did. */
  chat_fork: {
    params: ChatForkParams;
    event: unknown;
    result: ChatInfo;
  };
  /** The chats there are. */
  chat_list: {
    params: ChatListParams;
    event: unknown;
    result: ChatInfo[];
  };
  /** Give a chat another title. */
  chat_rename: {
    params: ChatRenameParams;
    event: unknown;
    result: ChatSummary;
  };
  /** A person answers what a running turn asks. */
  chat_reply: {
    params: ChatReplyParams;
    event: unknown;
    result: ReplyTaken;
  };
  /** Bring a deleted chat back. */
  chat_restore: {
    params: ChatRestoreParams;
    event: unknown;
    result: ChatSummary;
  };
  /** Everything that one call of a chat answered, pictures and cut parts included. */
  chat_result: {
    params: ChatResultParams;
    event: unknown;
    result: CallWhole;
  };
  /** Ask something in a chat; the turn runs in the host and goes on when nobody looks. */
  chat_send: {
    params: ChatSendParams;
    event: unknown;
    result: TurnStarted;
  };
  /** A whole chat, to be read or exported. */
  chat_show: {
    params: ChatShowParams;
    event: unknown;
    result: ChatWhole;
  };
  /** Stop the running turn of a chat, with all that its tools have started. */
  chat_stop: {
    params: ChatStopParams;
    event: unknown;
    result: TurnStopped;
  };
  /** Say which tools a chat always offers to the model, and which never. */
  chat_tools: {
    params: ChatToolsParams;
    event: unknown;
    result: ChatTools;
  };
  /** A chat as a page shows it, turn by turn, with what the latest one is doing right now. */
  chat_view: {
    params: ChatViewParams;
    event: unknown;
    result: ChatView;
  };
  /** The chats there are and how each stands, the latest first, or those that hold some words. */
  chats: {
    params: ChatsParams;
    event: unknown;
    result: ChatList;
  };
  /** Whether a server is configured, so that nobody is asked about one that is not. */
  check: {
    params: CheckParams;
    event: unknown;
    result: ServerChecked;
  };
  /** Write the entry for this crib into the file of an mcp client, or take it out again. */
  client_connect: {
    params: ClientConnectParams;
    event: unknown;
    result: ClientChanged;
  };
  /** How an mcp client is pointed at this crib; nothing is written. */
  client_entry: {
    params: ClientEntryParams;
    event: unknown;
    result: ClientEntry;
  };
  /** The mcp clients that can be connected, which are here, and which use a crib already. */
  clients: {
    params: ClientsParams;
    event: unknown;
    result: KnownClient[];
  };
  /** End a server and leave it off, also at the next start. */
  disable: {
    params: DisableParams;
    event: unknown;
    result: Switched;
  };
  /** Looks at everything that servers depend on, and at each server. */
  doctor: {
    params: DoctorParams;
    event: unknown;
    result: Diagnosis;
  };
  /** Let a server run, now and at every start. */
  enable: {
    params: EnableParams;
    event: unknown;
    result: Switched;
  };
  /** A server's entry as it stands in the config file, all keys included, to be edited as text. */
  entry: {
    params: EntryParams;
    event: unknown;
    result: EntryText;
  };
  /** Put another entry in a server's place, unless somebody else changed it meanwhile. */
  entry_edit: {
    params: EntryEditParams;
    event: unknown;
    result: EntryWritten;
  };
  /** Our servers in the words of another host, shown or written into its file; never a secret. */
  export: {
    params: ExportParams;
    event: unknown;
    result: Exported;
  };
  /** Every tool that is known, or those whose name has these words; else what may be meant. */
  find_tools: {
    params: FindToolsParams;
    event: unknown;
    result: ToolsFound;
  };
  /** The host that answers, and the numbers that every page shows. */
  host_info: {
    params: HostInfoParams;
    event: unknown;
    result: HostInfo;
  };
  /** Take in the servers of another host's file as they were shown; trusts and starts none. */
  import_apply: {
    params: ImportApplyParams;
    event: unknown;
    result: ImportPlan;
  };
  /** The files of other hosts that are here, and how many servers each names. */
  import_found: {
    params: ImportFoundParams;
    event: unknown;
    result: FoundSource[];
  };
  /** What taking in the servers of another host's file would do; changes nothing. */
  import_plan: {
    params: ImportPlanParams;
    event: unknown;
    result: ImportPlan;
  };
  /** Plan an installation, or do what was planned and write the server into the config file. */
  install: {
    params: InstallParams;
    event: InstallStep;
    result: ServerInstalled;
  };
  /** What a configured server would run or reach, for a person to read before `trust`. */
  launch: {
    params: LaunchParams;
    event: unknown;
    result: LaunchShown;
  };
  /** A person signs in to a remote server in a browser; what comes of it is kept among the secrets. */
  login: {
    params: LoginParams;
    event: SignInPage;
    result: SignedInTo;
  };
  /** Forget what a sign-in to a remote server left behind. */
  logout: {
    params: LogoutParams;
    event: unknown;
    result: SignedOutOf;
  };
  /** What a server wrote to stderr, and on request what it goes on to write. */
  logs: {
    params: LogsParams;
    event: LogLine | LogBatch;
    result: LogLines;
  };
  /** What the turns of all chats took: model, rounds, tokens, cost. */
  model_requests: {
    params: ModelRequestsParams;
    event: unknown;
    result: ModelRequests;
  };
  /** Ask a model for one word, with a key that is stored or with one that is not yet. */
  model_try: {
    params: ModelTryParams;
    event: unknown;
    result: ModelTried;
  };
  /** Which language models can be asked from here, and where their keys are looked for. */
  models: {
    params: ModelsParams;
    event: unknown;
    result: Models;
  };
  /** Turn the master switch off; no server runs until it is turned on. */
  off: {
    params: OffParams;
    event: unknown;
    result: MasterSwitch;
  };
  /** Turn the master switch on; servers that are enabled start. */
  on: {
    params: OnParams;
    event: unknown;
    result: MasterSwitch;
  };
  /** Which installed servers there is a newer version of; nothing is changed. */
  outdated: {
    params: OutdatedParams;
    event: unknown;
    result: VersionLook[];
  };
  /** All servers at a glance, with where they come from and how their last day went. */
  overview: {
    params: OverviewParams;
    event: unknown;
    result: Overview;
  };
  /** A new address that lets one page in, once. */
  page_address: {
    params: PageAddressParams;
    event: unknown;
    result: PageAddress;
  };
  /** Let a page in no more; what it has open ends. */
  page_revoke: {
    params: PageRevokeParams;
    event: unknown;
    result: Revoked;
  };
  /** The pages that were let in. */
  pages: {
    params: PagesParams;
    event: unknown;
    result: LetInPage[];
  };
  /** Remember a rule of the person, once its examples prove that it means what it should. */
  policy_add: {
    params: PolicyAddParams;
    event: unknown;
    result: RuleShown;
  };
  /** Put another rule in the place of one, once its examples prove what it means. */
  policy_edit: {
    params: PolicyEditParams;
    event: unknown;
    result: RuleShown;
  };
  /** What the gate would decide about a call, and why; nothing runs and nobody is asked. */
  policy_explain: {
    params: PolicyExplainParams;
    event: unknown;
    result: Explanation;
  };
  /** The rules of the person, and in which mode each kind of caller is. */
  policy_list: {
    params: PolicyListParams;
    event: unknown;
    result: Policy;
  };
  /** Forget a rule of the person. */
  policy_remove: {
    params: PolicyRemoveParams;
    event: unknown;
    result: RuleRemoved;
  };
  /** Put a rule of the person out of force for a while, or into force again. */
  policy_switch: {
    params: PolicySwitchParams;
    event: unknown;
    result: RuleSwitched;
  };
  /** Write a view of the crib into the config file; a gateway that runs serves it at once. */
  profile_add: {
    params: ProfileAddParams;
    event: unknown;
    result: ProfileShown;
  };
  /** The views that a gateway serves, and which of them need a token; never the token. */
  profile_list: {
    params: ProfileListParams;
    event: unknown;
    result: ProfileShown[];
  };
  /** Take a view out of the config file; its clients are cut off, its token is void. */
  profile_remove: {
    params: ProfileRemoveParams;
    event: unknown;
    result: ProfileRemoved;
  };
  /** Keep a view for whoever has a token, of which a hash and the last characters come here. */
  profile_token: {
    params: ProfileTokenParams;
    event: unknown;
    result: ProfileShown;
  };
  /** What adding a server would run, fetch and write, for a person to read; nothing is written. */
  propose: {
    params: ProposeParams;
    event: InstallStep;
    result: Proposed;
  };
  /** A question about a call as a person is shown it, whoever asks it and wherever it waits. */
  question_show: {
    params: QuestionShowParams;
    event: unknown;
    result: CallQuestion;
  };
  /** Where every tool stands for a question, why, and which of them a model would be offered. */
  rank: {
    params: RankParams;
    event: unknown;
    result: Ranking;
  };
  /** What a pasted text means; nothing is run, fetched or written to find out. */
  recognise: {
    params: RecogniseParams;
    event: unknown;
    result: Recognised;
  };
  /** Take a server out of the config file; its process ends. */
  remove: {
    params: RemoveParams;
    event: unknown;
    result: ServerRemoval;
  };
  /** End a server, if it runs, and start it again with a clean slate. */
  restart: {
    params: RestartParams;
    event: unknown;
    result: Server;
  };
  /** Bring back a server that was just removed, as it was and where it stood. */
  restore: {
    params: RestoreParams;
    event: unknown;
    result: ServerRestored;
  };
  /** Make an earlier version of an installed server the active one again; nothing is fetched. */
  rollback: {
    params: RollbackParams;
    event: unknown;
    result: RolledBack;
  };
  /** The tools that a question needs, and why. */
  search: {
    params: SearchParams;
    event: unknown;
    result: ToolSearch;
  };
  /** Servers that one could add, from our list and from a registry where one is set. */
  search_servers: {
    params: SearchServersParams;
    event: unknown;
    result: CatalogSearch;
  };
  /** The names of the stored secrets, where each lies and who uses it; never a value. */
  secret_list: {
    params: SecretListParams;
    event: unknown;
    result: SecretInfo[];
  };
  /** Forget a secret; servers that use it keep running until their next start. */
  secret_remove: {
    params: SecretRemoveParams;
    event: unknown;
    result: SecretRemoved;
  };
  /** Store a secret, and start again the servers that use it. */
  secret_set: {
    params: SecretSetParams;
    event: unknown;
    result: SecretStored;
  };
  /** What one server holds in memory, when it was last used, and how often today. */
  server_facts: {
    params: ServerFactsParams;
    event: unknown;
    result: ServerFacts;
  };
  /** How every server is doing. */
  servers: {
    params: ServersParams;
    event: unknown;
    result: Server[];
  };
  /** Write one setting into the config file; it holds at once where that is possible. */
  settings_set: {
    params: SettingsSetParams;
    event: unknown;
    result: SettingSaved;
  };
  /** All settings as they hold now, and which of them the config file says something about. */
  settings_show: {
    params: SettingsShowParams;
    event: unknown;
    result: SettingsShown;
  };
  /** Add a server as it was proposed, trust what was shown and try it; it goes on by itself. */
  setup_add: {
    params: SetupAddParams;
    event: unknown;
    result: SetupShown;
  };
  /** The outcome of the work on a server has been seen. */
  setup_forget: {
    params: SetupForgetParams;
    event: unknown;
    result: SetupForgotten;
  };
  /** End the work on a server, with everything that was started for it. */
  setup_stop: {
    params: SetupStopParams;
    event: unknown;
    result: SetupShown;
  };
  /** Start a second instance of a server step by step; it goes on by itself. */
  setup_test: {
    params: SetupTestParams;
    event: unknown;
    result: SetupShown;
  };
  /** Trust a configured server as shown, install what it needs, try it; it goes on by itself. */
  setup_trust: {
    params: SetupTrustParams;
    event: unknown;
    result: SetupShown;
  };
  /** Put another version of an installed server in place, as planned; it goes on by itself. */
  setup_update: {
    params: SetupUpdateParams;
    event: unknown;
    result: SetupShown;
  };
  /** Servers that are being added, installed or tried out, and how the latest went. */
  setups: {
    params: SetupsParams;
    event: unknown;
    result: SetupShown[];
  };
  /** A key for the token of a one-time address. */
  sign_in: {
    params: SignInParams;
    event: unknown;
    result: SignedIn;
  };
  /** Give the page's key up. */
  sign_out: {
    params: SignOutParams;
    event: unknown;
    result: SignedOut;
  };
  /** Start a server now, with a clean slate. */
  start: {
    params: StartParams;
    event: unknown;
    result: Server;
  };
  /** End a server and leave it off until it is started, or the host is. */
  stop: {
    params: StopParams;
    event: unknown;
    result: Server;
  };
  /** Start a second instance of a server step by step, and look its tools over. */
  test: {
    params: TestParams;
    event: TrialStep;
    result: Trial;
  };
  /** Switch a tool on or off, have it always offered, or give it more time; in the file, at once. */
  tool_set: {
    params: ToolSetParams;
    event: unknown;
    result: ToolSet;
  };
  /** Everything that is known of one tool. */
  tool_show: {
    params: ToolShowParams;
    event: unknown;
    result: ToolDetails;
  };
  /** Every tool there is, or those of one server. */
  tools: {
    params: ToolsParams;
    event: unknown;
    result: ToolInfo[];
  };
  /** Show what waits for a person's word, and take that word for exactly what was shown. */
  trust: {
    params: TrustParams;
    event: unknown;
    result: TrustAnswer;
  };
  /** Run a tool by hand from the page: through the one door and the gate, which may ask first. */
  try_tool: {
    params: TryToolParams;
    event: CallProgress | TryAsking | TryServerAsking | TryAnswered;
    result: Tried;
  };
  /** End an installed server, take it out of the config file, and remove its files. */
  uninstall: {
    params: UninstallParams;
    event: unknown;
    result: Uninstalled;
  };
  /** Plan or install another version of an installed server; the one before is kept to go back to. */
  update: {
    params: UpdateParams;
    event: InstallStep;
    result: ServerUpdated;
  };
  /** Which versions of an installed server lie here, without asking anybody else. */
  versions: {
    params: VersionsParams;
    event: unknown;
    result: KeptVersion[];
  };
  /** When each view of the gateway was last used, and how often today. */
  view_use: {
    params: ViewUseParams;
    event: unknown;
    result: ViewUse[];
  };
  /** Everything that waits for a person's word. */
  waiting: {
    params: WaitingParams;
    event: unknown;
    result: Waiting;
  };
}
