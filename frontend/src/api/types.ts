// Generated from the operations by `make generated`. Do not edit.

export interface AccountAdded {
  account: AccountShown;
  servers_added: string[];
  remarks: string[];
  identity: string;
}

/** What a form or a command asks for. */
export interface AccountFieldShown {
  key: string;
  label: string;
  help: string;
  secret: boolean;
  required: boolean;
  default: string;
  choices: string[];
}

export interface AccountListParams {
}

/** A new account, and what the user filled in. */
export interface AccountParams {
  provider: string;
  name: string;
  values?: Record<string, string>;
  read_only?: boolean;
  replace?: boolean;
  check?: boolean;
}

/** A kind of account; `sign_in` if its users sign in in a browser. */
export interface AccountProviderShown {
  provider: string;
  title: string;
  about: string;
  services: string[];
  fields: AccountFieldShown[];
  sign_in: boolean;
}

export interface AccountProvidersParams {
}

export interface AccountRemoveParams {
  name: string;
}

export interface AccountRemoved {
  removed: string;
  servers_affected: string[];
  remarks: string[];
}

/** An account, without its secret, and what can use it. */
export interface AccountShown {
  name: string;
  provider: string;
  title: string;
  user: string;
  read_only: boolean;
  services: string[];
  servers: string[];
  settings: Record<string, string | number | boolean>;
}

export interface AccountSignInCancelParams {
  sign_in: string;
}

export interface AccountSignInCancelled {
  sign_in: string;
  cancelled: boolean;
}

export interface AccountSignInPage {
  sign_in: string;
  url: string;
}

export interface AccountSignInResult {
  state: "waiting" | "done" | "failed";
  error: string;
  hint: string;
  account: AccountShown | null;
  servers_added: string[];
}

export interface AccountSignInResultParams {
  sign_in: string;
  wait?: number;
}

export interface AccountTestParams {
  name: string;
}

/** Whether an account works; `error` and `hint` if not. */
export interface AccountTested {
  name: string;
  ok: boolean;
  identity: string;
  remarks: string[];
  error: string;
  hint: string;
}

/** The new entry, and the values of the secrets it refers to. */
export interface AddParams {
  name: string;
  entry: Record<string, unknown>;
  secrets?: Record<string, string>;
  replace?: boolean;
  probe?: boolean;
  wait?: number;
}

/** The parameters of `propose`, with the mark and the plan that were shown. */
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

/** A server that was added to the config file and may need approval. */
export interface Admitted {
  name: string;
  mark: string;
  trusted: boolean;
  packages: number;
  version: string;
  ms: number;
}

/** The answer was cut off and is requested again: the text of this round does not count. */
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

export interface ApprovalAnswerParams {
  id: string;
  allow: boolean;
  scope?: "once" | "chat" | "project" | "always";
  message?: string;
  any_arguments?: boolean;
  lift?: "tool" | "turn" | "session" | boolean | null;
}

export interface ApprovalAnswered {
  id: string;
  allowed: boolean;
  scope: "once" | "chat" | "project" | "always";
}

/** A call that waits for approval; `arguments` are exact and complete. */
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
  hazard?: boolean;
  lifts?: ("tool" | "turn" | "session")[];
  session_mode: boolean;
  grant?: string;
  expires?: string;
  [key: string]: unknown;
}

export interface ApprovalsParams {
}

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

/** A stored rule that is invalid or contradicts its examples. */
export interface BrokenRule {
  id: string;
  rule: string;
  reason: string;
}

/** A group of tools that need no server. */
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

/** A recorded call. */
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

/** The calls of one hour. */
export interface CallBar {
  calls: number;
  failed: number;
}

export interface CallCounts {
  total: number;
  asked: number;
  denied: number;
  failed: number;
  days: number;
}

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

/** What the user is shown of a call. */
export interface CallExhibit {
  kind: "command" | "code" | "edit" | "arguments" | "email" | "event" | "message" | "screen";
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
  action?: string;
  account?: string;
  sender?: string;
  to?: string[];
  cc?: string[];
  bcc?: string[];
  subject?: string;
  attachments?: ShownAttachment[];
  calendar?: string;
  title?: string;
  start?: string;
  end?: string;
  all_day?: boolean;
  where?: string;
  attendees?: string[];
  recurrence?: string;
  notify?: boolean;
  service?: string;
  channel?: string;
  mentions?: string[];
  application?: string;
  element?: string;
  picture?: string;
  width?: number;
  height?: number;
  target?: PictureRect;
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

export interface CallParams {
  tool: string;
  arguments?: Record<string, unknown>;
  words?: Word[];
  timeout?: number | null;
  principal?: string;
}

/** A recorded call in detail. */
export interface CallPath {
  call: Call;
  chat: string | null;
  exhibit: CallExhibit;
  rules: PolicyRule[];
  server_state: string | null;
}

export interface CallPathParams {
  call_id: string;
}

/** Progress reported by a tool. */
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
  hazard?: boolean;
  lifts?: ("tool" | "turn" | "session")[];
  session_mode: boolean;
  grant?: string;
  title: string;
  why: string;
  exhibit: CallExhibit;
  definition: string;
  words: Record<string, RuleWords>;
  tool_words?: Record<string, RuleWords>;
}

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

/** The server's MCP result, unchanged, with unknown keys. */
export interface CallResult {
  content: Record<string, unknown>[];
  isError: boolean;
  structuredContent?: unknown;
  [key: string]: unknown;
}

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

/** Calls, newest first. */
export interface Calls {
  calls: Call[];
  matching: number | null;
  more: boolean;
}

/** This many calls ended without events of their own; 0 if some may have while no page was open. */
export interface CallsNews {
  seq: number;
  kind: "calls";
  count: number;
}

export interface CallsParams {
  words?: string;
  limit?: number;
  before?: string | null;
  after?: string | null;
  count?: boolean;
}

export interface CallsRunningParams {
}

/** Matching servers; `note` says why a registry could not be searched. */
export interface CatalogSearch {
  query: string;
  total: number;
  servers: CatalogServer[];
  registry: string;
  note: string;
}

export interface CatalogServer {
  name: string;
  title: string;
  about: string;
  origin: "bundled" | "official" | "well-known" | "registry";
  reference: string;
  url: string;
  args: string[];
  env: CatalogVariable[];
  version: string;
  add: string;
  bundled: boolean;
  setting: string;
  needs_account: string[];
  needs_choice: boolean;
}

/** An environment variable of a server. */
export interface CatalogVariable {
  name: string;
  about: string;
  secret: boolean;
  required: boolean;
}

export interface ChatCloseParams {
  chat: string;
}

/** A chat whose processes were ended. */
export interface ChatClosed {
  chat: string;
}

export interface ChatContinueParams {
  chat: string;
  model?: string | null;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
}

export interface ChatDeleteParams {
  chat: string;
}

/** A stored entry of a chat; the other keys depend on `kind`. */
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

export interface ChatExportParams {
  chat: string;
  form?: "markdown" | "json";
}

export interface ChatFileParams {
  chat: string;
  key: string;
}

export interface ChatForkParams {
  chat: string;
  entries?: number | null;
}

/** A chat that was found. */
export interface ChatHit {
  chat: string;
  title: string;
  excerpt: string;
  time: string;
  position: number | null;
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

export interface ChatListParams {
  limit?: number;
}

/** Event number `n` of a running turn. */
export interface ChatNews {
  seq: number;
  kind: "chat";
  chat: string;
  turn: string;
  n: number;
  event: QuestionEvent | BeganEvent | OfferedEvent | WordsEvent | AgainEvent | NoticeEvent | BusyEvent | CallEvent | ProgressEvent | ResultEvent | CallAskingEvent | ServerAskingEvent | AnsweredEvent | CompactedEvent | RoundEvent | EndedEvent;
}

export interface ChatPinParams {
  chat: string;
  pinned?: boolean;
}

/** What the person said. */
export interface ChatQuestion {
  position: number;
  text: string;
  images: PictureData[];
  files?: FileInfo[];
}

export interface ChatRenameParams {
  chat: string;
  title?: string;
}

export interface ChatReplyParams {
  id: string;
  action: "accept" | "decline" | "cancel";
  content?: Record<string, unknown> | null;
}

export interface ChatRestoreParams {
  chat: string;
}

export interface ChatResultParams {
  chat: string;
  call?: string;
}

export interface ChatRetryParams {
  chat: string;
  position?: number | null;
  model?: string | null;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
}

export interface ChatSendParams {
  text: string;
  chat?: string | null;
  model?: string | null;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
  project?: string;
  images?: Picture[];
  files?: QuestionFile[];
  replaces?: number | null;
  pinned?: string[] | null;
  banned?: string[] | null;
}

export interface ChatShowParams {
  chat: string;
}

export interface ChatStopParams {
  chat: string;
}

/** A chat in a list of the page. */
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
  on_top: boolean;
  deleted: boolean;
}

/** Which tools a chat always offers, and which never. */
export interface ChatTools {
  chat: string;
  pinned: string[];
  banned: string[];
}

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
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "unknown" | "stopped" | "failed" | "interrupted" | null;
  usage: TokenUsage | null;
  cost: number | null;
  versions?: QuestionVersion[];
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

export interface ChatViewParams {
  chat: string;
  limit?: number;
  before?: number | null;
  until?: number | null;
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

export interface ChatsParams {
  limit?: number;
  before?: string | null;
  deleted?: boolean;
}

export interface ChatsSearchParams {
  query: string;
  limit?: number;
}

/** What must hold after a node or after the run. */
export interface Check {
  type: "text_present" | "text_absent" | "image_found" | "window_title" | "condition";
  /** The text, the image (base64), the title (glob), or the condition. */
  value?: unknown;
  app_name?: string | null;
  on_fail?: "fail" | "warn";
}

export interface CheckParams {
  server: string;
}

/** The result of one check; `hint` says how to fix a problem. */
export interface Checkup {
  name: string;
  verdict: "ok" | "warning" | "broken";
  detail: string;
  hint: string;
}

/** The change to a client's config file. */
export interface ClientChanged {
  client: string;
  title: string;
  file: string;
  written: boolean;
  backup: string | null;
  afterwards: string;
}

/** The client, the profile and the form; `remove` removes the entry. */
export interface ClientConnectParams {
  client: string;
  profile?: string;
  form?: "program" | "address";
  remove?: boolean;
}

/** How to connect a client: a command, or an entry for its config file. */
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

/** The client, the profile and the form. */
export interface ClientEntryParams {
  client: string;
  profile?: string;
  form?: "program" | "address";
}

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

/** The config file was reloaded; `error` says why the previous configuration is still used, if so. */
export interface ConfigNews {
  seq: number;
  kind: "config";
  error: string | null;
  changed: string[];
}

/** Why the previous configuration is still used. */
export interface ConfigTrouble {
  message: string;
  line: number | null;
  column: number | null;
}

export interface DatabaseShowParams {
}

export interface DatabaseShown {
  database: string;
  shared: boolean;
  tables: Record<string, number>;
  local: string;
}

/** What to do with a server whose name is already used. */
export interface Decision {
  action: "skip" | "rename" | "replace";
  name?: string;
}

/** All checks; `ok` is false if anything is broken. */
export interface Diagnosis {
  ok: boolean;
  checks: Checkup[];
}

/** A part that differs from what was approved. */
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

export interface DisableParams {
  name: string;
}

/** How long to wait for servers that are starting. */
export interface DoctorParams {
  wait?: number;
}

/** Leads from an output of one node to another node. */
export interface Edge {
  from: string;
  to: string;
  output?: string;
}

export interface EnableParams {
  name: string;
}

/** The end; the last event. */
export interface EndedEvent {
  event: "ended";
  chat: string;
  model: string;
  answer: string;
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "unknown" | "stopped" | "failed" | "interrupted";
  rounds: number;
  calls: number;
  usage: TokenUsage;
  cost: number | null;
  error: TurnError | null;
}

export interface EndpointRemoved {
  name: string;
  secret: string | null;
  default: boolean;
}

/** The packages of the engine are being installed, once. */
export interface EngineInstalling {
  installing: string;
}

/** The server, its new entry as JSON, and the digest of the entry that the user edited. */
export interface EntryEditParams {
  name: string;
  text: string;
  digest?: string;
  secrets?: string[] | null;
}

export interface EntryParams {
  name: string;
}

/** The text of an entry in the config file. */
export interface EntryText {
  name: string;
  text: string;
  digest: string;
  unknown: string[];
  keys: string[];
  line: number;
  file: string;
}

export interface EntryWritten {
  name: string;
  digest: string;
  unknown: string[];
  secrets: string[];
  needs_trust: boolean;
  remarks: string[];
}

/** The decision that a call would get. */
export interface Explanation {
  decision: "allow" | "ask" | "deny";
  rule: string | null;
  reasons: string[];
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
}

/** The target host, the servers (all if empty), and whether to write its file. */
export interface ExportParams {
  host: string;
  only?: string[];
  file?: string | null;
  write?: boolean;
}

/** A variable that must be set for the other host. */
export interface ExportVariable {
  name: string;
  secret: string;
}

/** Our servers in another host's format. */
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

/** A server in another host's format. */
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

/** A text file that belongs to a question; `chat_file` has its text. */
export interface FileInfo {
  key: string;
  name: string;
  chars: number;
  shown: number;
}

/** A text file that belongs to a question, whole. */
export interface FileText {
  name: string;
  text: string;
}

export interface FindToolsParams {
  words?: string;
  server?: string | null;
  limit?: number;
  after?: string;
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

/** The approval decision about a call. */
export interface GateNote {
  rule: string | null;
  number: number | null;
  reason: string;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
  decision?: "allow" | "ask" | "deny";
  asked?: string[];
  allowed?: boolean;
  scope?: "once" | "chat" | "project" | "always";
  grant?: string;
  message?: string;
  waited_ms?: number;
  judged_ms?: number;
}

export interface HaltParams {
  name: string;
}

/** A tool that is held for review, by its own name, and why. */
export interface HeldGlance {
  tool: string;
  reason: string;
}

/** A tool that cannot be called, for example because it changed since it was approved. */
export interface HeldTool {
  tool: string;
  reason: string;
  hash: string;
  approved_hash: string | null;
  approved_at: string | null;
  changed: Record<string, Difference>;
  findings: string[];
}

/** The first event of each stream; `resumed` if it continues after the last event the page received. */
export interface HelloNews {
  seq: number;
  kind: "hello";
  run: string;
  resumed: boolean;
}

/** Counts for the navigation and the status line. */
export interface HostCounts {
  servers: number;
  up: number;
  trouble: number;
  off: number;
  needs_you: number;
  tools: number;
  unsaved: number;
  lost: number;
  calls_running: number;
  chats: number;
}

/** The running host. */
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

export interface HostInfoParams {
}

/** The source, the user's decisions, and the digest of the plan that was shown. */
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

export interface ImportFoundParams {
  folder?: string;
}

/** The planned or finished import; `digest` identifies the content that was read. */
export interface ImportPlan {
  source: ImportSource;
  servers: ImportPlanned[];
  refused: Record<string, string>;
  digest: string;
  written: boolean;
}

/** A source, and the user's decisions; `text` is the pasted content of a file. */
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

/** A value that the user has to provide. */
export interface ImportQuestion {
  id: string;
  text: string;
  secret: boolean;
  default: string;
  choices: string[];
  required: boolean;
  multiple: boolean;
}

/** The config file that servers are imported from. */
export interface ImportSource {
  host: string | null;
  title: string;
  file: string;
}

/** A way to set up a bundled server; `problem` says why it cannot work on this machine. */
export interface IncludedChoice {
  title: string;
  about: string;
  entry: Record<string, unknown>;
  problem: string;
  hint: string;
}

export interface IncludedChoicesParams {
  name: string;
}

/** What to install and how; without a reference, the entry of `name` is installed again. */
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

/** The effect of an installation; `digest` identifies exactly this plan. */
export interface InstallPlan {
  digest: string;
  reference: string;
  package: string;
  version: string;
  integrity: string;
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

/** Progress of an installation; `total` is 0 if unknown. Stage and detail make a sentence. */
export interface InstallStep {
  stage: "runtime" | "ask" | "resolve" | "fetch" | "copy" | "scripts" | "build" | "activate";
  detail: string;
  done: number;
  total: number;
}

export interface InstalledVersion {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
  remarks: string[];
}

/** An installed version; one of them is active. */
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

/** One argument, not shortened. */
export interface LaunchArgument {
  text: string;
  outside: boolean;
}

/** A part of the launch that differs from what the user approved. */
export interface LaunchChange {
  part: string;
  before: string | null;
  now: string | null;
}

export interface LaunchParams {
  name: string;
}

/** Scripts of the packages that an installation would or would not run. */
export interface LaunchScripts {
  allowed: string[];
  refused: string[];
  built: string[];
}

/** The program or address, as shown to the user for approval; `mark` identifies exactly this. */
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
  sandbox: string[];
  installed: boolean;
  remarks: string[];
  changed: LaunchChange[];
  agreed: string | null;
  trusted: boolean;
  mark: string;
}

/** A signed-in browser: a `PageKey` without the hash of its key. */
export interface LetInPage {
  id: string;
  name: string;
  made_at: string;
  used_at: string;
}

/** A model of a list; prices are dollars for a million tokens. */
export interface ListedModel {
  name: string;
  context: number | null;
  input: number | null;
  output: number | null;
  created: string;
}

export interface LocalModelsParams {
}

/** A model server on this machine; `name` is free in the settings. */
export interface LocalServer {
  name: string;
  title: string;
  address: string;
  models: string[];
}

export interface LogBatch {
  lines: string[];
  times: (string | null)[];
  events: number[];
}

export interface LogLine {
  line: string;
  time: string | null;
  is_event: boolean;
}

export interface LogLines {
  lines: string[];
  times: (string | null)[];
  events: number[];
  server: string;
}

/** The server, the hosts that the user confirmed, if asked, and how long the user may take. */
export interface LoginParams {
  name: string;
  hosts?: Record<string, string>;
  patience?: number;
  wait?: number;
}

export interface LogoutParams {
  name: string;
}

export interface LogsParams {
  name: string;
  count?: number;
  follow?: boolean;
  batch?: boolean;
}

/** A well-known package whose name is close to the pasted one. */
export interface LookAlike {
  name: string;
  reference: string;
  letters: number;
  listed: boolean;
}

/** Whether servers may run at all. */
export interface MasterSwitch {
  enabled: boolean;
}

/** A part of a tool that matches a question. */
export interface MatchReason {
  field: string;
  terms: string[];
  score: number;
}

/** A vendor or an address that was tested and stored. */
export interface ModelConnected {
  model: string;
  ms: number;
  default: boolean;
  place: "keyring" | "file" | null;
}

export interface ModelDisconnectParams {
  name: string;
}

/** The models of a vendor to choose from. */
export interface ModelList {
  vendor: string;
  models: ListedModel[];
  listed: boolean;
  reason: string;
}

export interface ModelListParams {
  vendor: string;
  url?: string;
  protocol?: string;
  api_key?: string;
  again?: boolean;
}

/** Tokens and cost of one turn of a chat. */
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

/** Turns, newest first. */
export interface ModelRequests {
  turns: ModelRequest[];
  more: boolean;
  input: number;
  output: number;
  cost: number | null;
  days: number;
}

export interface ModelRequestsParams {
  limit?: number;
}

/** A test of a model. */
export interface ModelTried {
  model: string;
  answer: string;
  ms: number;
}

export interface ModelTryParams {
  model: string;
  key_name?: string;
  key?: string;
  timeout?: number;
}

/** The vendors and the default model. */
export interface Models {
  model: string | null;
  vendors: Vendor[];
}

export interface ModelsParams {
}

/** A similar word, and the tools and servers that contain it. */
export interface NearWord {
  word: string;
  tools: number;
  servers: string[];
}

/** A value that the user has to provide: an `InstallQuestion` whose default is text, without bounds. */
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

export interface NewModelSource {
  vendor: string;
  url?: string;
  protocol?: string;
  api_key?: string;
  model?: string;
  replace?: boolean;
}

export interface NewlyInstalled {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
  remarks: string[];
  path: string;
  replaced: string | null;
}

export interface NextPlace {
  place: "keyring" | "file";
}

/** One step. `settings` belong to its type: see `toolcrib.features.workflows.nodes`. */
export interface Node {
  type: string;
  /** Shown to users; the id if empty. */
  name?: string;
  settings?: Record<string, unknown>;
  /** A disabled node is passed by its default output. */
  enabled?: boolean;
  /** Seconds for one attempt; None for the default of its type. */
  timeout?: number | null;
  retry?: Retry | null;
  /** Seconds to wait after it, for programs that need time to react. */
  settle?: number;
  checks?: Check[];
  trace?: "full" | "minimal" | "off";
  /** Where the canvas draws it. */
  position?: [number, number] | null;
}

/** A kind of node. */
export interface NodeTypeShown {
  name: string;
  title: string;
  group: "desktop" | "tools" | "ai" | "control" | "user" | "data";
  about: string;
  flow: "step" | "branch" | "loop" | "map" | "end";
  settings: Record<string, unknown>;
  result: Record<string, unknown>;
  outputs: string[];
  timeout: number;
}

/** Something that happened to the turn; of the notes of a `TurnNote`, those that are stored. */
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

/** Something was done; `undo` has the operation and the params that revert it. */
export interface NoticeNews {
  seq: number;
  kind: "notice";
  text: string;
  undo: Record<string, unknown> | null;
}

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

export interface OnParams {
}

export interface OutdatedParams {
  name?: string | null;
}

/** All servers, in the order of the config file. */
export interface Overview {
  switched_on: boolean;
  switched_at: string | null;
  ended: number | null;
  config_error: ConfigTrouble | null;
  built_in: BuiltIn[];
  servers: ServerGlance[];
}

export interface OverviewParams {
}

/** A sign-in address for a browser; it works once, and expires soon. */
export interface PageAddress {
  url: string;
}

export interface PageAddressParams {
}

export interface PageRevokeParams {
  id: string;
}

export interface PagesParams {
}

/** An input of the workflow. */
export interface Parameter {
  type?: "string" | "number" | "integer" | "boolean" | "array" | "object";
  description?: string;
  /** An input that is not required and has no default is null. */
  required?: boolean;
  default?: unknown;
  choices?: unknown[];
  /** Stored encrypted; masked in traces, logs and the page. */
  secret?: boolean;
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

/** A part of a picture, in its pixels. */
export interface PictureRect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A value that the server needs from the user. */
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

/** The approval mode and the rules. */
export interface Policy {
  mode: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";
  modes: Record<string, "always" | "on_miss" | "on_rule" | "plan" | "session" | "off">;
  rules: PolicyRule[];
  built_in: string[];
  broken: BrokenRule[];
}

export interface PolicyAddParams {
  rule?: Record<string, unknown>;
}

export interface PolicyEditParams {
  id: string;
  rule?: Record<string, unknown>;
}

export interface PolicyExplainParams {
  tool: string;
  arguments?: Record<string, unknown>;
  principal?: string;
  mode?: "always" | "on_miss" | "on_rule" | "plan" | "session" | "off" | null;
  project?: string;
}

export interface PolicyListParams {
}

export interface PolicyRemoveParams {
  id: string;
}

/** A rule with its text and use. */
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
  inactive: string | null;
  decided_by: string;
  decided_on: string;
  decided_at: string | null;
}

export interface PolicySwitchParams {
  id: string;
  enabled: boolean;
}

export interface ProfileAddParams {
  name: string;
  servers?: string[];
  tools?: string[];
  read_only?: boolean;
  search?: boolean;
  plain_names?: boolean;
  k?: number | null;
  always_on?: string[] | null;
  approvals?: "client" | "page" | "off" | null;
  replace?: boolean;
}

export interface ProfileApprovalsParams {
  approvals: "client" | "page" | "off";
  name?: string;
}

export interface ProfileListParams {
}

export interface ProfileRemoveParams {
  name: string;
}

export interface ProfileRemoved {
  name: string;
  removed: boolean;
}

/** A gateway profile; the one without a name offers all tools. */
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
  approvals: "client" | "page" | "off";
}

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

export interface PromptArgument {
  name: string;
  description: string;
  required: boolean;
}

export interface PromptFilled {
  server: string;
  prompt: string;
  description: string;
  messages: PromptMessage[];
}

export interface PromptGetParams {
  name: string;
  prompt: string;
  arguments?: Record<string, string>;
}

/** A prompt; its title stands for a missing description. */
export interface PromptListed {
  name: string;
  description: string;
  arguments: PromptArgument[];
}

/** A message of a prompt; `text` is empty if its content is something else, which `type` names. */
export interface PromptMessage {
  role: string;
  type: string;
  text: string;
  cut: boolean;
}

export interface PromptsParams {
  name: string;
  limit?: number;
  offset?: number;
}

/** The server to add: a paste, an entry, or a package; and the user's answers. */
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

/** The effect of adding a server; pass `plan` to `admit` (empty if nothing is installed). */
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
  files?: FileInfo[];
  replaces?: number;
  time: string;
}

/** A text file that belongs to the question. */
export interface QuestionFile {
  name: string;
  text: string;
}

export interface QuestionShowParams {
  id: string;
}

/** A question that was asked again, or the one that replaced it. */
export interface QuestionVersion {
  position: number;
  until: number | null;
}

/** The question, and how many tools to show. */
export interface RankParams {
  query?: string;
  limit?: number;
}

/** A tool with its rank for a question. */
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

/** The tools that a model would be offered for a question, and the next ones. */
export interface Ranking {
  ready: number;
  known: number;
  servers: number;
  own: number;
  query: string;
  tools: RankedTool[];
  k: number;
  always_on: number;
  all_offered: boolean;
  offer_all: number;
  offered: number;
  offered_tokens: number;
  all_tokens: number;
  ranked: number;
  ms: number;
  note: string;
}

export interface RecogniseParams {
  text: string;
  as_is?: boolean;
}

/** What was pasted; recognising it runs, downloads and writes nothing. */
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

/** A message as it is kept: masked, and cut if it is long. */
export interface RecordedMessage {
  number: number;
  time: string;
  to_server: boolean;
  kind: "request" | "notification" | "result" | "error";
  method: string;
  id: string | null;
  milliseconds: number | null;
  size: number;
  text: string;
  cut: boolean;
}

export interface RemoveParams {
  name: string;
  undo?: number;
}

export interface ReplyTaken {
  id: string;
}

/** Events were lost: fetch everything again. */
export interface ResetNews {
  seq: number;
  kind: "reset";
}

/** One part of a resource: text, a picture as base64, or neither if it is something else or too large. */
export interface ResourceContent {
  uri: string;
  mime_type: string;
  text: string | null;
  picture: string | null;
  size: number;
  cut: boolean;
}

/** A resource, or a template of addresses such as `file:///{path}`. */
export interface ResourceListed {
  kind: "resource" | "template";
  uri: string;
  name: string;
  description: string;
  mime_type: string;
  size: number | null;
}

export interface ResourceRead {
  server: string;
  uri: string;
  contents: ResourceContent[];
}

export interface ResourceReadParams {
  name: string;
  uri: string;
}

export interface ResourcesParams {
  name: string;
  limit?: number;
  offset?: number;
}

export interface RestartParams {
  name: string;
}

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

export interface ResumeParams {
  name: string;
}

/** How a failed node is tried again, with growing pauses. */
export interface Retry {
  /** In total, with the first. */
  attempts?: number;
  /** Seconds before the second attempt. */
  delay?: number;
  /** Each pause is this many times the one before. */
  factor?: number;
  longest?: number;
}

export interface Revoked {
  id: string;
  revoked: boolean;
}

export interface RollbackParams {
  name: string;
  to?: string | null;
}

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

/** Arguments that the rule must match, and others that it must not. */
export interface RuleExamples {
  match?: Record<string, unknown>[];
  not_match?: Record<string, unknown>[];
  [key: string]: unknown;
}

/** Condition on an argument: this exact value, text like this, a path in this folder, or anything. */
export interface RulePattern {
  equals?: unknown;
  like?: string;
  under?: string;
  any?: true;
  [key: string]: unknown;
}

/** A removed rule; `policy_add` adds `rule` again. Null if it could not be read. */
export interface RuleRemoved {
  id: string;
  removed: boolean;
  rule: RuleShown | null;
}

/** A rule as stored; keys with default values are omitted. */
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

export interface RuleSwitched {
  id: string;
  enabled: boolean;
}

/** The text of the rules that an answer of this scope would add. */
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

/** The state of a run after something was asked of it. */
export interface RunAction {
  run: string;
  state: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";
}

/** A file that a step stored, such as a screenshot. */
export interface RunArtifact {
  run: string;
  id: string;
  media_type: string;
  bytes: number;
  data: string;
}

/** A run or one of its steps changed. */
export interface RunChange {
  run: string;
  workflow: string;
  state: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";
  step: StepShown | null;
  question: StepQuestion | null;
}

/** Two runs step by step. */
export interface RunComparison {
  a: RunSummary;
  b: RunSummary;
  inputs: string[];
  outputs: string[];
  steps: StepComparison[];
}

/** How often a node went on at each of its outputs, and why it did the last time. Of control nodes, disabled ones, and those that failed and have an error path. */
export interface RunDecision {
  node: string;
  output: string;
  reason: string;
  taken: Record<string, number>;
}

/** Runs, the latest first. */
export interface RunList {
  runs: RunSummary[];
  more: boolean;
  failed_starts: number;
}

/** A run changed, and which of its steps; `workflow_watch` follows one. */
export interface RunNews {
  seq: number;
  kind: "run";
  run: string;
  step: string | null;
}

/** How runs of this workflow behave. */
export interface RunOptions {
  /** The server of the desktop nodes: a registered server, a command line, or a program's path. */
  desktop?: string;
  /** The model of AI steps; None for the default. */
  model?: string | null;
  /** Seconds for the whole run. */
  timeout?: number | null;
  /** How many runs of this workflow may be active at once, over all workers. */
  concurrency?: number | null;
  /** A run that takes more steps fails: its loops do not end. */
  most_steps?: number;
  /** Seconds to wait for an approval; None for no limit. */
  question_deadline?: number | null;
  /** Offered as a tool to agents and to clients of the gateway. */
  tool?: boolean;
}

/** How a run ended, or its current state if the caller does not wait for the end. */
export interface RunResult {
  run: string;
  state: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";
  outputs: Record<string, unknown> | null;
  error: StepFailure | null;
}

/** A run with its steps, in the order in which they began. */
export interface RunShown {
  run: string;
  workflow: string;
  state: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";
  steps: StepShown[];
  decisions: RunDecision[];
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown> | null;
  error: StepFailure | null;
  started: string;
  ended: string | null;
  parent: string | null;
  worker: string | null;
  questions: StepQuestion[];
  paused_at: string[];
  definition: Workflow | null;
}

/** A run in the list. */
export interface RunSummary {
  run: string;
  workflow: string;
  state: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";
  started: string;
  ended: string | null;
  error: StepFailure | null;
  parent: string | null;
}

/** A call in progress. */
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

/** The number of running calls changed. */
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

/** A state with the screen as it is now, if it has changed. */
export interface ScreenShown {
  server: string;
  own: boolean;
  open: boolean;
  stopped: string;
  stop_key: string;
  picture?: string;
  width?: number;
  height?: number;
}

/** The screen of a server, and whether it may use the mouse and the keyboard. */
export interface ScreenState {
  server: string;
  own: boolean;
  open: boolean;
  stopped: string;
  stop_key: string;
}

export interface ScreenWatchParams {
  name: string;
}

export interface ScreensParams {
}

export interface SearchParams {
  query?: string;
  k?: number | null;
  wait?: number;
}

export interface SearchServersParams {
  query?: string;
  limit?: number;
  registry?: boolean;
}

/** A secret and the servers that use it; `place` is None if it is not stored. */
export interface SecretInfo {
  name: string;
  place: "keyring" | "file" | null;
  servers: string[];
}

export interface SecretListParams {
}

export interface SecretPlaceParams {
}

export interface SecretRemoveParams {
  name: string;
}

/** A removed secret, and the servers that still refer to it. */
export interface SecretRemoved {
  name: string;
  removed: boolean;
  servers: string[];
}

export interface SecretSetParams {
  name: string;
  value: string;
}

/** A stored secret; the servers that use it were restarted. */
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
  unresponsive: boolean;
  needs: string;
  last_failure: string | null;
  held: number;
  checking: number;
  calls: ServerCalls;
}

/** A server that was added to the config file. */
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

/** Calls of a server since the host started, in total and per tool. */
export interface ServerCalls {
  total: number;
  errors: number;
  in_flight: number;
  p50_ms: number | null;
  p95_ms: number | null;
  max_ms: number | null;
  tools: ToolCalls[];
}

/** A configured server; `type` is None if its entry is broken. */
export interface ServerChecked {
  server: string;
  type: string | null;
}

/** Details measured on request for a single server. */
export interface ServerFacts {
  name: string;
  memory: number | null;
  last_used: string | null;
  calls_today: number;
  failed_today: number;
}

export interface ServerFactsParams {
  name: string;
}

/** A server in a list. */
export interface ServerGlance {
  name: string;
  type: string;
  enabled: boolean;
  state: "disabled" | "starting" | "ready" | "degraded" | "backoff" | "failed" | "needs-auth" | "needs-config" | "needs-trust";
  reason: string;
  hint: string;
  needs: string;
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
  held: HeldGlance[];
  checking: number;
  missing: string[];
  bars: CallBar[];
  typical_ms: number | null;
  in_flight: number;
  stale_tools: boolean;
  junk_lines: number;
  last_failure: string | null;
}

/** A server that was installed, or the plan for it. */
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

/** A server changed its state. */
export interface ServerNews {
  seq: number;
  kind: "server";
  server: Server;
}

/** A removed server; `restore` brings it back for `undo` seconds. */
export interface ServerRemoval {
  name: string;
  removed: boolean;
  backup: string;
  unused_secrets: string[];
  kept_folders: string[];
  undo?: number;
}

/** A server is no longer configured. */
export interface ServerRemovedNews {
  seq: number;
  kind: "server_removed";
  name: string;
}

export interface ServerRestored {
  name: string;
  trusted: boolean;
}

/** The origin of a server; `text` is a package, a program, a folder or an address. */
export interface ServerSource {
  kind: "npm" | "pypi" | "folder" | "bundle" | "command" | "address" | "in process";
  text: string;
  version: string | null;
  imported_from: string;
}

export interface ServerTraffic {
  server: string;
  recording: boolean;
  oldest: number;
  skipped: number;
  messages: RecordedMessage[];
}

/** An update of a server, or the plan for it. */
export interface ServerUpdated {
  name: string;
  updated: boolean;
  before: InstalledVersion;
  plan: InstallPlan | null;
  installed: NewlyInstalled | null;
  server: Server | null;
}

export interface ServersParams {
  wait?: number;
}

export interface SettingSaved {
  key: string;
  value: unknown;
  before: unknown;
  text: string;
  before_text: string;
  command: string;
  untrusted: string[];
}

export interface SettingsSetParams {
  key: string;
  value?: unknown;
  database_key?: string | null;
}

export interface SettingsShowParams {
}

/** All settings in effect, under their names in the config file. */
export interface SettingsShown {
  settings: Record<string, unknown>;
  given: string[];
  known: string[];
  file: string;
}

/** The parameters of `admit`; the mark also approves exactly what was shown. */
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

export interface SetupForgetParams {
  name: string;
}

/** Whether it was dismissed; running work is not. */
export interface SetupForgotten {
  name: string;
  forgotten: boolean;
}

/** Finished background work was dismissed. */
export interface SetupForgottenNews {
  seq: number;
  kind: "setup_forgotten";
  name: string;
}

/** Background work on a server progressed or ended. */
export interface SetupNews {
  seq: number;
  kind: "setup";
  setup: SetupShown;
}

/** The progress of background work on a server; with its source instead of its entry. */
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

/** One step; `ms` is its duration once it has ended. */
export interface SetupStepShown {
  key: "resolve" | "install" | "start" | "connect" | "handshake" | "list" | "ready" | "review";
  state: "wait" | "work" | "done" | "fail";
  detail: string;
  ms: number | null;
  began: string | null;
}

export interface SetupStopParams {
  name: string;
}

export interface SetupTestParams {
  name: string;
}

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

export interface SetupsParams {
}

/** A tool in a list, with its status. */
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

export interface ShownAttachment {
  name: string;
  size: number;
}

/** The address where the user signs in, and the issuer to whom it belongs. */
export interface SignInPage {
  open: string;
  issuer: string;
}

/** The token of a one-time sign-in address. */
export interface SignInParams {
  token: string;
}

/** No parameters. */
export interface SignOutParams {
}

/** The key for further requests. */
export interface SignedIn {
  key: string;
}

export interface SignedInTo {
  name: string;
  issuer: string;
  scope: string | null;
  expires_in: number | null;
  renews: boolean;
  server: Server | null;
}

export interface SignedOut {
  signed_out: boolean;
}

export interface SignedOutOf {
  name: string;
  was_signed_in: boolean;
}

export interface StartParams {
  name: string;
}

/** One step in two runs. */
export interface StepComparison {
  step: string;
  node: string;
  type: string;
  a: StepShown | null;
  b: StepShown | null;
  differences: string[];
}

/** Why a step or a run failed. */
export interface StepFailure {
  kind: string;
  message: string;
  hint: string;
}

/** What a step asks its user, with times as text; answer it with `workflow_answer`. */
export interface StepQuestion {
  step: string;
  asked_by: string;
  text: string;
  choices: string[];
  fields: Record<string, unknown>;
  shown: Record<string, unknown>;
  picture: string | null;
  asked: string;
  deadline: string | null;
  uncertain: boolean;
}

/** One visit of a node, without its trace. */
export interface StepShown {
  step: string;
  node: string;
  type: string;
  state: "running" | "waiting" | "retrying" | "done" | "failed" | "skipped" | "cancelled" | "uncertain";
  attempts: number;
  started: string | null;
  ended: string | null;
  error: StepFailure | null;
  output: string | null;
  line: string;
  reused: boolean;
}

/** Everything that is recorded about one step; unlike in a stored trace, no key is missing. */
export interface StepTrace {
  run: string;
  step: string;
  node: string;
  type: string;
  state: "running" | "waiting" | "retrying" | "done" | "failed" | "skipped" | "cancelled" | "uncertain";
  output: string | null;
  value: unknown;
  error: StepFailure | null;
  inputs: unknown;
  attempts: Record<string, unknown>[];
  notes: Record<string, unknown>[];
  artifacts: string[];
  started: string | null;
  ended: string | null;
}

export interface StopParams {
  name: string;
}

/** A server that was switched on or off. */
export interface Switched {
  name: string;
  enabled: boolean;
  server: Server | null;
}

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

/** Tokens used since midnight; `cost` is in dollars, None if no price is known. */
export interface Today {
  tokens: number;
  input: number;
  output: number;
  cost: number | null;
}

/** Tokens, as the vendor counts them; `Usage` as JSON, as stored turns and their events have it. */
export interface TokenUsage {
  input: number;
  output: number;
  cached: number;
  requests: number;
  written?: number;
}

/** Calls of one tool, by public name, since the host started. */
export interface ToolCalls {
  name: string;
  total: number;
  errors: number;
  in_flight: number;
  p50_ms: number | null;
  p95_ms: number | null;
  max_ms: number | null;
}

/** All details of a tool. */
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

/** A tool and its origin. */
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
  held: string;
  stale: boolean;
  silent: boolean;
  annotations: Record<string, unknown>;
  first_seen: string | null;
  last_changed: string | null;
  changes: string[];
}

/** A tool that matches a question. */
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

/** The tools for a question, best first. */
export interface ToolSearch {
  query: string;
  tools: ToolMatch[];
  searched: number;
  note: string;
}

export interface ToolSet {
  name: string;
  enabled: boolean;
  always_on: boolean;
  timeout: number | null;
}

export interface ToolSetParams {
  name: string;
  enabled?: boolean | null;
  always_on?: boolean | null;
  timeout?: number | null;
}

export interface ToolShowParams {
  name: string;
}

/** Tools found by name. */
export interface ToolsFound {
  ready: number;
  known: number;
  servers: number;
  own: number;
  tools: ShelfTool[];
  found: number;
  more: boolean;
  near: NearWord | null;
}

/** The tools of one server, or of several, changed. */
export interface ToolsNews {
  seq: number;
  kind: "tools";
  version: number;
  server: string | null;
}

/** The server, whether to include disabled tools, and which page. */
export interface ToolsParams {
  server?: string | null;
  disabled?: boolean;
  wait?: number;
  limit?: number;
  after?: string;
}

export interface TrafficClearParams {
  name: string;
}

export interface TrafficParams {
  name: string;
  after?: number;
}

export interface TrafficRecordParams {
  name: string;
  on: boolean;
}

export interface TrafficState {
  server: string;
  recording: boolean;
}

/** The test of a server: a second instance is started, step by step. */
export interface Trial {
  ok: boolean;
  steps: TrialStep[];
  review: string[];
  tools: number;
  held: string[];
  error?: Failure;
  remedy?: TrialRemedy;
}

/** The option to reinstall the server with. */
export interface TrialRemedy {
  reason: string;
  option: "also" | "allow_scripts";
  values: string[];
  command: string;
}

/** One step of a test; the test ends at the first step that fails. */
export interface TrialStep {
  name: "resolve" | "spawn" | "connect" | "handshake" | "list" | "ready";
  ok: boolean;
  ms: number;
  detail: string;
  hint?: string;
}

/** The result of trying a tool. */
export interface Tried {
  tool: string;
  outcome: "ok" | "tool_error";
  ms: number;
  result: CallResult;
}

/** What starts the workflow by itself; a trigger is inactive until the user turns it on. */
export interface Trigger {
  type: "schedule" | "webhook" | "folder";
  /** schedule: cron, timezone; webhook: path, signature; folder: path, pattern. */
  settings?: Record<string, unknown>;
  /** Values of the workflow's inputs; may refer to `{{event.…}}`. */
  input?: Record<string, unknown>;
}

/** A trigger of a workflow. */
export interface TriggerShown {
  workflow: string;
  index: number;
  trigger: string;
  type: string;
  sentence: string;
  state: "off" | "on" | "paused";
  reason: string;
  problems: string[];
  next: string | null;
  last: TriggerStart | null;
  failed: TriggerStart[];
  more_failed: boolean;
}

/** An occurrence of a trigger. */
export interface TriggerStart {
  run: string;
  state: "ignored" | "pending" | "starting" | "started" | "ended" | "skipped" | "failed";
  due: string;
  note: string;
  startable: boolean;
}

/** A trigger that was turned on or off. */
export interface TriggerSwitched {
  trigger: TriggerShown;
  url: string | null;
}

/** The requested servers, or all that need approval. */
export interface TrustAnswer {
  servers: TrustShown[];
}

export interface TrustParams {
  names?: string[];
  agree?: Record<string, string>;
}

/** The program or address of a server; the user approves its `mark`, which identifies exactly this. */
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

/** The call needs approval; answer with `chat_reply`. */
export interface TryAsking {
  asking: CallQuestion;
}

/** The tool's server asks the user, or wants to ask the model; answer with `chat_reply`. */
export interface TryServerAsking {
  server_asking: ServerAskingEvent;
}

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
  ending: "answered" | "budget" | "cut" | "refused" | "filtered" | "unknown" | "stopped" | "failed" | "interrupted" | null;
}

export interface UninstallParams {
  name: string;
  dry_run?: boolean;
}

/** A server whose files were deleted; `removed` says whether its entry was removed too. */
export interface Uninstalled {
  name: string;
  removed: boolean;
  versions: string[];
  backup: string | null;
  unused_secrets: string[];
}

/** The server, and the new version: the newest, a given version, or another file. */
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

/** A model vendor; `key` is the name of a key, never its value. */
export interface Vendor {
  vendor: string;
  title: string;
  address: string;
  keys: string[];
  key: string | null;
  place: "environment" | "secret" | null;
  ready: boolean;
  models: string[];
  usual: string;
  protocol: string;
  tried: VendorTrial | null;
}

/** The last test of a vendor since the host started. */
export interface VendorTrial {
  at: string;
  model: string;
  ms: number | null;
  refused: boolean;
  reason: string;
}

/** The active version of a server, and whether a newer one exists. */
export interface VersionLook {
  package: string;
  version: string;
  published: string | null;
  installed_at: string;
  reference: string;
  integrity: string;
  packages: number;
  command: string[];
  remarks: string[];
  name: string;
  newest: string | null;
  outdated: boolean;
  error: Failure | null;
  kept: InstalledVersion[];
}

export interface VersionsParams {
  name: string;
}

/** Use of a gateway profile. */
export interface ViewUse {
  name: string;
  today: number;
  last_call: string | null;
}

export interface ViewUseParams {
}

/** Everything that waits: questions first, then by age, oldest first. */
export interface Waiting {
  count: number;
  items: WaitingItem[];
}

/** Something that waits for the user. */
export interface WaitingItem {
  kind: "call" | "sampling" | "elicitation" | "trust" | "sign-in" | "value" | "changed" | "workflow";
  id: string | null;
  durable: boolean;
  server: string | null;
  tool: string | null;
  chat: string | null;
  chat_title: string | null;
  run: string | null;
  principal: string | null;
  reason: string;
  tools: string[];
  detail: Record<string, unknown>;
  since: string | null;
}

/** The list of what waits for the user changed; the operation `waiting` returns all of it. */
export interface WaitingNews {
  seq: number;
  kind: "waiting";
  count: number;
  oldest: WaitingItem | null;
}

export interface WaitingParams {
}

/** Why the previous configuration is still used. */
export interface WatchedConfig {
  config_error: string;
}

export interface WatchedRemoval {
  removed: string;
}

export interface WatchedServer {
  server: Server;
}

/** The caller. */
export interface Who {
  kind: "chat" | "page" | "gateway" | "workflow" | "python" | "terminal" | "other";
  name: string;
  session: string | null;
}

/** One argument: `text` is converted by the schema, `value` is used unchanged. */
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

/** A whole workflow. */
export interface Workflow {
  format?: 1;
  name: string;
  description?: string;
  inputs?: Record<string, Parameter>;
  nodes?: Record<string, Node>;
  edges?: Edge[];
  /** The result of a run: names and values, which may be references. */
  outputs?: Record<string, unknown>;
  checks?: Check[];
  options?: RunOptions;
  triggers?: Trigger[];
}

export interface WorkflowAddCallParams {
  tool: string;
  arguments?: Record<string, unknown>;
  workflow?: Record<string, unknown> | null;
  after?: string | null;
}

export interface WorkflowAnswerParams {
  run: string;
  step: string;
  choice: string;
  values?: Record<string, unknown>;
  comment?: string;
}

export interface WorkflowArtifactParams {
  run: string;
  id: string;
}

export interface WorkflowCancelParams {
  run: string;
}

/** What is different from the workflow before; everything, if there was none. */
export interface WorkflowChanges {
  added: string[];
  removed: string[];
  changed: WorkflowNodeChange[];
  edges_added: WorkflowEdgeChange[];
  edges_removed: WorkflowEdgeChange[];
  inputs: string[];
  outputs: string[];
  other: string[];
}

export interface WorkflowCheckEdgeParams {
  /** A workflow, as in its file. */
  workflow: Record<string, unknown>;
  source: string;
  output: string;
  target: string;
}

/** Whether a workflow can run; `problems` also has warnings. */
export interface WorkflowChecked {
  ok: boolean;
  problems: WorkflowProblem[];
}

export interface WorkflowCompareParams {
  run_a: string;
  run_b: string;
}

export interface WorkflowConfirmParams {
  name: string;
  version: string;
}

/** Something that was corrected or assumed, to be checked. */
export interface WorkflowDoubt {
  node: string | null;
  message: string;
}

/** A workflow that is not saved yet. */
export interface WorkflowDrafted {
  workflow: Workflow;
  changes: WorkflowChanges;
  doubts: WorkflowDoubt[];
}

/** An edge that is new or gone; unlike `Edge`, which is written to files, with the names of its fields. */
export interface WorkflowEdgeChange {
  source: string;
  output: string;
  target: string;
}

/** Whether an edge fits: `problem` is null, or names the node that a value does not fit. */
export interface WorkflowEdgeChecked {
  problem: WorkflowProblem | null;
}

export interface WorkflowEventParams {
  run: string;
  name: string;
  data?: unknown;
}

export interface WorkflowExportParams {
  name: string;
  version?: string | null;
}

/** The file of a workflow. */
export interface WorkflowExported {
  name: string;
  file: string;
  text: string;
}

export interface WorkflowFromChatParams {
  chat: string;
  others?: string[];
  name?: string | null;
}

export interface WorkflowGetParams {
  name: string;
  version?: string | null;
}

export interface WorkflowImportParams {
  text: string;
  name?: string | null;
  replace?: boolean;
}

/** An imported workflow, and what it does. */
export interface WorkflowImported {
  name: string;
  version: string;
  changed: string;
  workflow: Workflow;
  problems: WorkflowProblem[];
  imported: boolean;
  confirmed: boolean;
  does: string[];
}

export interface WorkflowListParams {
}

/** A workflow was saved or removed; `workflow_list` returns all of them. */
export interface WorkflowNews {
  seq: number;
  kind: "workflow";
  name: string;
}

export interface WorkflowNodeChange {
  node: string;
  fields: string[];
}

export interface WorkflowNodeTypesParams {
}

export interface WorkflowPauseParams {
  run: string;
}

export interface WorkflowPlanParams {
  request: string;
  model?: string | null;
  current?: Record<string, unknown> | null;
}

/** A workflow that a model planned. */
export interface WorkflowPlanned {
  workflow: Workflow;
  changes: WorkflowChanges;
  doubts: WorkflowDoubt[];
  model: string;
  requests: number;
  offered: string[];
  input: number;
  output: number;
}

/** Why a workflow cannot run. */
export interface WorkflowProblem {
  node: string | null;
  message: string;
  hint: string;
  warning: boolean;
}

export interface WorkflowRemoveParams {
  name: string;
}

/** Its versions are kept for a while: `workflow_get` with a `version` still returns it. */
export interface WorkflowRemoved {
  name: string;
  version: string;
}

export interface WorkflowRerunParams {
  run: string;
  from_node?: string | null;
  inputs?: Record<string, unknown>;
  texts?: Record<string, string>;
  detach?: boolean;
}

export interface WorkflowResumeParams {
  run: string;
  wait?: boolean;
}

/** What a workflow does, as far as its file tells. */
export interface WorkflowReview {
  name: string;
  version: string;
  imported: boolean;
  confirmed: boolean;
  does: string[];
}

export interface WorkflowReviewParams {
  name: string;
}

export interface WorkflowRunParams {
  name?: string | null;
  workflow?: Record<string, unknown> | null;
  text?: string | null;
  inputs?: Record<string, unknown>;
  texts?: Record<string, string>;
  breakpoints?: string[];
  detach?: boolean;
  replay?: string | null;
}

export interface WorkflowRunsParams {
  name?: string | null;
  state?: "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled" | null;
  limit?: number;
  before?: string | null;
  each?: number | null;
}

export interface WorkflowSaveParams {
  /** A workflow, as in its file. */
  workflow: Record<string, unknown>;
  expected_version?: string | null;
}

export interface WorkflowScheduleParams {
  name: string;
  cron?: string | null;
  timezone?: string | null;
  inputs?: Record<string, unknown>;
  texts?: Record<string, string>;
  missed?: "skip" | "once" | "all";
  overlap?: "skip" | "queue" | "allow";
  on?: boolean;
}

export interface WorkflowShowParams {
  run: string;
  definition?: boolean;
}

/** A whole workflow that can be read, as JSON with every default value filled in. */
export interface WorkflowShown {
  name: string;
  version: string;
  changed: string;
  workflow: Workflow;
  problems: WorkflowProblem[];
}

export interface WorkflowStepOnceParams {
  run: string;
}

export interface WorkflowStepParams {
  run: string;
  step: string;
}

/** A workflow in the list; a file that cannot be read has only problems. */
export interface WorkflowSummary {
  name: string;
  description: string;
  version: string;
  changed: string;
  nodes: number;
  triggers: number;
  tool: boolean;
  problems: WorkflowProblem[];
}

/** A ready-made workflow to begin with. */
export interface WorkflowTemplate {
  name: string;
  title: string;
  description: string;
  workflow: Workflow;
}

export interface WorkflowTemplatesParams {
}

export interface WorkflowTriggerSetParams {
  name: string;
  index: number;
  on: boolean;
}

export interface WorkflowTriggersParams {
  name?: string | null;
}

export interface WorkflowValidateParams {
  workflow?: Record<string, unknown> | null;
  text?: string | null;
}

/** A kept version of a workflow; the latest first. */
export interface WorkflowVersion {
  version: string;
  saved: string;
  current: boolean;
}

export interface WorkflowVersionsParams {
  name: string;
}

export interface WorkflowWatchParams {
  run: string;
}

export interface WorkflowWebhookParams {
  name: string;
  inputs?: Record<string, unknown>;
  settings?: Record<string, unknown>;
  index?: number | null;
}

export type CallOutcome = "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed" | "running" | "interrupted";

export type ChatEvent = QuestionEvent | BeganEvent | OfferedEvent | WordsEvent | AgainEvent | NoticeEvent | BusyEvent | CallEvent | ProgressEvent | ResultEvent | CallAskingEvent | ServerAskingEvent | AnsweredEvent | CompactedEvent | RoundEvent | EndedEvent;

export type ChatState = "empty" | "running" | "asking" | "done" | "stopped" | "failed" | "interrupted";

export type ClientApprovals = "client" | "page" | "off";

export type Effect = "allow" | "ask" | "deny";

export type EntryForm = "program" | "address";

export type FlowException = "tool" | "turn" | "session";

export type ImportStanding = "new" | "same" | "differs";

export type Mode = "always" | "on_miss" | "on_rule" | "plan" | "session" | "off";

export type News = HelloNews | ResetNews | ServerNews | ServerRemovedNews | ToolsNews | CallNews | CallsNews | RunningNews | ConfigNews | SetupNews | SetupForgottenNews | WaitingNews | ChatNews | NoticeNews | WorkflowNews | RunNews;

export type NodeFlow = "step" | "branch" | "loop" | "map" | "end";

export type NodeGroup = "desktop" | "tools" | "ai" | "control" | "user" | "data";

export type Origin = "native" | "inline" | "mcp";

export type Outcome = "ok" | "tool_error" | "invalid" | "denied" | "timeout" | "cancelled" | "unavailable" | "failed";

export type PasteKind = "nothing" | "command-npm" | "command-pypi" | "command-docker" | "command" | "npm" | "pypi" | "bundle" | "file" | "folder" | "address" | "link" | "document" | "ambiguous";

export type RunState = "queued" | "running" | "paused" | "waiting" | "finished" | "failed" | "cancelled";

export type Scope = "once" | "chat" | "project" | "always";

export type SecretPlace = "keyring" | "file";

export type SourceKind = "npm" | "pypi" | "folder" | "bundle" | "command" | "address" | "in process";

export type Standing = "ready" | "off" | "held" | "away";

export type State = "disabled" | "starting" | "ready" | "degraded" | "backoff" | "failed" | "needs-auth" | "needs-config" | "needs-trust";

export type StepState = "running" | "waiting" | "retrying" | "done" | "failed" | "skipped" | "cancelled" | "uncertain";

export type TryEvent = CallProgress | TryAsking | TryServerAsking | TryAnswered;

export type TurnEnding = "answered" | "budget" | "cut" | "refused" | "filtered" | "unknown" | "stopped" | "failed" | "interrupted";

export type TurnItem = TextItem | ThinkingItem | CallItem | NoteItem;

export type WaitingKind = "call" | "sampling" | "elicitation" | "trust" | "sign-in" | "value" | "changed" | "workflow";

export type Watched = WatchedServer | WatchedRemoval | WatchedConfig;

export type WhoKind = "chat" | "page" | "gateway" | "workflow" | "python" | "terminal" | "other";

/** All operations of the host. */
export interface Operations {
  /** Add an account: find its servers, check that it works, store it, and turn on the servers that use it. */
  account_add: {
    params: AccountParams;
    event: unknown;
    result: AccountAdded;
  };
  /** List the accounts, without their secrets, sorted by name. */
  account_list: {
    params: AccountListParams;
    event: unknown;
    result: AccountShown[];
  };
  /** List the kinds of accounts and what each asks for. */
  account_providers: {
    params: AccountProvidersParams;
    event: unknown;
    result: AccountProviderShown[];
  };
  /** Forget an account and its secret, and end its access at the service where that is possible. */
  account_remove: {
    params: AccountRemoveParams;
    event: unknown;
    result: AccountRemoved;
  };
  /** Start to add an account by a sign-in in the browser; `account_sign_in_result` has the result. */
  account_sign_in: {
    params: AccountParams;
    event: unknown;
    result: AccountSignInPage;
  };
  /** End a sign-in that waits for the user. */
  account_sign_in_cancel: {
    params: AccountSignInCancelParams;
    event: unknown;
    result: AccountSignInCancelled;
  };
  /** How a sign-in stands; returns early from `wait` seconds when it ends. */
  account_sign_in_result: {
    params: AccountSignInResultParams;
    event: unknown;
    result: AccountSignInResult;
  };
  /** Connect to an account's service and change nothing. */
  account_test: {
    params: AccountTestParams;
    event: unknown;
    result: AccountTested;
  };
  /** Add a server to the config file, store its secrets, and start it. */
  add: {
    params: AddParams;
    event: unknown;
    result: ServerAdded;
  };
  /** Add a server as proposed; it still needs trust. */
  admit: {
    params: AdmitParams;
    event: InstallStep;
    result: Admitted;
  };
  /** Approve or deny a waiting request. */
  approval_answer: {
    params: ApprovalAnswerParams;
    event: unknown;
    result: ApprovalAnswered;
  };
  /** List the approval requests that are waiting, oldest first. */
  approvals: {
    params: ApprovalsParams;
    event: unknown;
    result: ApprovalQuestion[];
  };
  /** List the recorded calls, newest first. */
  audit: {
    params: AuditParams;
    event: unknown;
    result: CallRecorded[];
  };
  /** Call a tool. */
  call: {
    params: CallParams;
    event: CallProgress;
    result: CallResult;
  };
  /** Call a tool in a chat by hand, with the same approval as the model's calls. */
  call_again: {
    params: CallAgainParams;
    event: unknown;
    result: TurnStarted;
  };
  /** Count recent calls by outcome. */
  call_counts: {
    params: CallCountsParams;
    event: unknown;
    result: CallCounts;
  };
  /** Show how one call went: caller, approval, server. */
  call_path: {
    params: CallPathParams;
    event: unknown;
    result: CallPath;
  };
  /** Stop one call of a running turn; the turn continues and the model is told. */
  call_stop: {
    params: CallStopParams;
    event: unknown;
    result: CallStopped;
  };
  /** Search the audit log, page by page: each call with its caller and the approval decision. */
  calls: {
    params: CallsParams;
    event: unknown;
    result: Calls;
  };
  /** List calls that are running or waiting for approval, newest first. */
  calls_running: {
    params: CallsRunningParams;
    event: unknown;
    result: RunningCall[];
  };
  /** Stop the servers and processes that run for this chat alone; the chat itself stays. */
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
  /** Delete a chat and stop what runs for it; `chat_restore` can undo it for a while. */
  chat_delete: {
    params: ChatDeleteParams;
    event: unknown;
    result: ChatSummary;
  };
  /** Export a chat as Markdown or JSON. */
  chat_export: {
    params: ChatExportParams;
    event: unknown;
    result: ChatExport;
  };
  /** Show the text of a file that was attached to a question. */
  chat_file: {
    params: ChatFileParams;
    event: unknown;
    result: FileText;
  };
  /** Start a new chat from the beginning of another. */
  chat_fork: {
    params: ChatForkParams;
    event: unknown;
    result: ChatInfo;
  };
  /** List chats, newest first. */
  chat_list: {
    params: ChatListParams;
    event: unknown;
    result: ChatInfo[];
  };
  /** Pin a chat to the top of the list, or unpin it. */
  chat_pin: {
    params: ChatPinParams;
    event: unknown;
    result: ChatSummary;
  };
  /** Rename a chat. */
  chat_rename: {
    params: ChatRenameParams;
    event: unknown;
    result: ChatSummary;
  };
  /** Answer a question of a running turn. */
  chat_reply: {
    params: ChatReplyParams;
    event: unknown;
    result: ReplyTaken;
  };
  /** Restore a deleted chat. */
  chat_restore: {
    params: ChatRestoreParams;
    event: unknown;
    result: ChatSummary;
  };
  /** Show the whole result of one call of a chat, with pictures. */
  chat_result: {
    params: ChatResultParams;
    event: unknown;
    result: CallWhole;
  };
  /** Answer a question of a chat again, with its pictures and files; the chat keeps the answer so far. */
  chat_retry: {
    params: ChatRetryParams;
    event: unknown;
    result: TurnStarted;
  };
  /** Ask something in a chat; the turn runs in the background. */
  chat_send: {
    params: ChatSendParams;
    event: unknown;
    result: TurnStarted;
  };
  /** Show a whole chat. */
  chat_show: {
    params: ChatShowParams;
    event: unknown;
    result: ChatWhole;
  };
  /** Stop the running turn of a chat, with everything its tools started. */
  chat_stop: {
    params: ChatStopParams;
    event: unknown;
    result: TurnStopped;
  };
  /** Set which tools a chat always offers to the model, and which never. */
  chat_tools: {
    params: ChatToolsParams;
    event: unknown;
    result: ChatTools;
  };
  /** Show the turns of a chat, and the running one. */
  chat_view: {
    params: ChatViewParams;
    event: unknown;
    result: ChatView;
  };
  /** List chats with their state: first all that are pinned, then the others, newest first. */
  chats: {
    params: ChatsParams;
    event: unknown;
    result: ChatList;
  };
  /** Find chats with all words of the query, or parts of words, in the title or in one message. */
  chats_search: {
    params: ChatsSearchParams;
    event: unknown;
    result: ChatHit[];
  };
  /** Check that a server is configured. */
  check: {
    params: CheckParams;
    event: unknown;
    result: ServerChecked;
  };
  /** Write the gateway's entry into the config file of an MCP client, or remove it. */
  client_connect: {
    params: ClientConnectParams;
    event: unknown;
    result: ClientChanged;
  };
  /** Show the entry that connects an MCP client; nothing is written. */
  client_entry: {
    params: ClientEntryParams;
    event: unknown;
    result: ClientEntry;
  };
  /** List the MCP clients that can be connected, those found here, and those already connected. */
  clients: {
    params: ClientsParams;
    event: unknown;
    result: KnownClient[];
  };
  /** Show where the data is, and how many rows each table has. */
  database_show: {
    params: DatabaseShowParams;
    event: unknown;
    result: DatabaseShown;
  };
  /** Disable a server, now and at every start. */
  disable: {
    params: DisableParams;
    event: unknown;
    result: Switched;
  };
  /** Check the installation and each server. */
  doctor: {
    params: DoctorParams;
    event: unknown;
    result: Diagnosis;
  };
  /** Enable a server, now and at every start. */
  enable: {
    params: EnableParams;
    event: unknown;
    result: Switched;
  };
  /** Show a server's entry in the config file as text, with all its keys. */
  entry: {
    params: EntryParams;
    event: unknown;
    result: EntryText;
  };
  /** Replace a server's entry. */
  entry_edit: {
    params: EntryEditParams;
    event: unknown;
    result: EntryWritten;
  };
  /** Show our servers in the format of another program, or write them into its file; never a secret. */
  export: {
    params: ExportParams;
    event: unknown;
    result: Exported;
  };
  /** Find tools by words in their names, in pages; suggests a word if none match. */
  find_tools: {
    params: FindToolsParams;
    event: unknown;
    result: ToolsFound;
  };
  /** Stop all input of a desktop server; running actions are cancelled, others refused until `resume`. */
  halt: {
    params: HaltParams;
    event: unknown;
    result: ScreenState;
  };
  /** Show the host's version, paths, counts and today's usage. */
  host_info: {
    params: HostInfoParams;
    event: unknown;
    result: HostInfo;
  };
  /** Import the servers as shown; none is trusted or started. */
  import_apply: {
    params: ImportApplyParams;
    event: unknown;
    result: ImportPlan;
  };
  /** List the config files of other programs found here, and their servers. */
  import_found: {
    params: ImportFoundParams;
    event: unknown;
    result: FoundSource[];
  };
  /** Show what importing servers from another program's file would do; nothing is written. */
  import_plan: {
    params: ImportPlanParams;
    event: unknown;
    result: ImportPlan;
  };
  /** Show the ways to set up a bundled server, and why one cannot work on this machine. */
  included_choices: {
    params: IncludedChoicesParams;
    event: unknown;
    result: IncludedChoice[];
  };
  /** Plan an installation, or install as planned and add the server to the config file. */
  install: {
    params: InstallParams;
    event: InstallStep;
    result: ServerInstalled;
  };
  /** Show what a configured server would run or connect to. */
  launch: {
    params: LaunchParams;
    event: unknown;
    result: LaunchShown;
  };
  /** Find model servers on the usual ports of this machine that no setting names, besides Ollama. */
  local_models: {
    params: LocalModelsParams;
    event: unknown;
    result: LocalServer[];
  };
  /** Sign in to a remote server in a browser and store the tokens as secrets. */
  login: {
    params: LoginParams;
    event: SignInPage;
    result: SignedInTo;
  };
  /** Delete the stored sign-in of a remote server. */
  logout: {
    params: LogoutParams;
    event: unknown;
    result: SignedOutOf;
  };
  /** Show what a server wrote to stderr and what happened to it; with `follow` also each new line. */
  logs: {
    params: LogsParams;
    event: LogLine | LogBatch;
    result: LogLines;
  };
  /** Test a vendor with a key, or an address, and store it if it answers: the key as a secret. */
  model_connect: {
    params: NewModelSource;
    event: unknown;
    result: ModelConnected;
  };
  /** Remove an address from the settings, and the secret that was stored with it. */
  model_disconnect: {
    params: ModelDisconnectParams;
    event: unknown;
    result: EndpointRemoved;
  };
  /** List the models of a vendor with context length and price, from its own list if it can be asked. */
  model_list: {
    params: ModelListParams;
    event: unknown;
    result: ModelList;
  };
  /** List the usage of recent turns: model, rounds, tokens, cost. */
  model_requests: {
    params: ModelRequestsParams;
    event: unknown;
    result: ModelRequests;
  };
  /** Test a model with a stored key or a new one. */
  model_try: {
    params: ModelTryParams;
    event: unknown;
    result: ModelTried;
  };
  /** List model vendors and the keys found for them. */
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
  /** Turn the master switch on; enabled servers start. */
  on: {
    params: OnParams;
    event: unknown;
    result: MasterSwitch;
  };
  /** List installed servers and their newest versions; nothing is changed. */
  outdated: {
    params: OutdatedParams;
    event: unknown;
    result: VersionLook[];
  };
  /** Show all servers with their sources and their last 24 hours. */
  overview: {
    params: OverviewParams;
    event: unknown;
    result: Overview;
  };
  /** Create an address that signs in one browser, once. */
  page_address: {
    params: PageAddressParams;
    event: unknown;
    result: PageAddress;
  };
  /** Sign a browser out; its open pages are disconnected. */
  page_revoke: {
    params: PageRevokeParams;
    event: unknown;
    result: Revoked;
  };
  /** List the signed-in browsers, newest first. */
  pages: {
    params: PagesParams;
    event: unknown;
    result: LetInPage[];
  };
  /** Add an approval rule after checking its examples. */
  policy_add: {
    params: PolicyAddParams;
    event: unknown;
    result: RuleShown;
  };
  /** Replace an approval rule after checking its examples. */
  policy_edit: {
    params: PolicyEditParams;
    event: unknown;
    result: RuleShown;
  };
  /** Explain what would be decided about a call; nothing runs and no one is asked. */
  policy_explain: {
    params: PolicyExplainParams;
    event: unknown;
    result: Explanation;
  };
  /** List your approval rules and the mode of each kind of caller. */
  policy_list: {
    params: PolicyListParams;
    event: unknown;
    result: Policy;
  };
  /** Remove an approval rule. */
  policy_remove: {
    params: PolicyRemoveParams;
    event: unknown;
    result: RuleRemoved;
  };
  /** Turn an approval rule on or off. */
  policy_switch: {
    params: PolicySwitchParams;
    event: unknown;
    result: RuleSwitched;
  };
  /** Add a profile to the config file; a running gateway serves it at once. */
  profile_add: {
    params: ProfileAddParams;
    event: unknown;
    result: ProfileShown;
  };
  /** Set how the clients of a profile are asked before Toolcrib's own tools send, invite or delete. */
  profile_approvals: {
    params: ProfileApprovalsParams;
    event: unknown;
    result: ProfileShown;
  };
  /** List the gateway's profiles and which of them need a token; never the token. */
  profile_list: {
    params: ProfileListParams;
    event: unknown;
    result: ProfileShown[];
  };
  /** Remove a profile; its clients are disconnected and its token becomes invalid. */
  profile_remove: {
    params: ProfileRemoveParams;
    event: unknown;
    result: ProfileRemoved;
  };
  /** Require a token for a profile; only its hash and last characters are sent here. */
  profile_token: {
    params: ProfileTokenParams;
    event: unknown;
    result: ProfileShown;
  };
  /** Fill in a prompt of a server; no model is asked. */
  prompt_get: {
    params: PromptGetParams;
    event: unknown;
    result: PromptFilled;
  };
  /** List the prompts of a server. */
  prompts: {
    params: PromptsParams;
    event: unknown;
    result: PromptListed[];
  };
  /** Show what adding a server would run, download and write; nothing is written. */
  propose: {
    params: ProposeParams;
    event: InstallStep;
    result: Proposed;
  };
  /** Show one approval request. */
  question_show: {
    params: QuestionShowParams;
    event: unknown;
    result: CallQuestion;
  };
  /** Rank every tool for a question, and show which the model would be offered. */
  rank: {
    params: RankParams;
    event: unknown;
    result: Ranking;
  };
  /** Recognise the servers in a pasted text; nothing is run, downloaded or written. */
  recognise: {
    params: RecogniseParams;
    event: unknown;
    result: Recognised;
  };
  /** Remove a server from the config file and stop it. */
  remove: {
    params: RemoveParams;
    event: unknown;
    result: ServerRemoval;
  };
  /** Read a resource of a server; long texts are cut, and of other content only pictures are given. */
  resource_read: {
    params: ResourceReadParams;
    event: unknown;
    result: ResourceRead;
  };
  /** List the resources of a server, then its templates of addresses. */
  resources: {
    params: ResourcesParams;
    event: unknown;
    result: ResourceListed[];
  };
  /** Restart a server and forget its earlier failures. */
  restart: {
    params: RestartParams;
    event: unknown;
    result: Server;
  };
  /** Restore a server that was just removed, in its place. */
  restore: {
    params: RestoreParams;
    event: unknown;
    result: ServerRestored;
  };
  /** Allow input of a desktop server after `halt` or its stop key; every window needs approval again. */
  resume: {
    params: ResumeParams;
    event: unknown;
    result: ScreenState;
  };
  /** Activate an earlier version of an installed server; nothing is downloaded. */
  rollback: {
    params: RollbackParams;
    event: unknown;
    result: RolledBack;
  };
  /** Emit the screen of a server whenever it changes, until the reader disconnects. */
  screen_watch: {
    params: ScreenWatchParams;
    event: ScreenShown;
    result: null;
  };
  /** List the screens of running servers that came with Toolcrib. */
  screens: {
    params: ScreensParams;
    event: unknown;
    result: ScreenState[];
  };
  /** Find the tools for a question, best first, with reasons. */
  search: {
    params: SearchParams;
    event: unknown;
    result: ToolSearch;
  };
  /** Search servers to add, in the built-in catalog and in the registry if one is set. */
  search_servers: {
    params: SearchServersParams;
    event: unknown;
    result: CatalogSearch;
  };
  /** List secrets by name, where each is stored and which servers use it; never a value. */
  secret_list: {
    params: SecretListParams;
    event: unknown;
    result: SecretInfo[];
  };
  /** Tell where a new secret would be stored: in the keyring, or in a private file if there is none. */
  secret_place: {
    params: SecretPlaceParams;
    event: unknown;
    result: NextPlace;
  };
  /** Remove a secret; servers that use it keep running until their next start. */
  secret_remove: {
    params: SecretRemoveParams;
    event: unknown;
    result: SecretRemoved;
  };
  /** Store a secret and restart the servers that use it. */
  secret_set: {
    params: SecretSetParams;
    event: unknown;
    result: SecretStored;
  };
  /** Show a server's memory, last use and calls of today. */
  server_facts: {
    params: ServerFactsParams;
    event: unknown;
    result: ServerFacts;
  };
  /** List the servers and how they are doing, in the order of the file. */
  servers: {
    params: ServersParams;
    event: unknown;
    result: Server[];
  };
  /** Change a setting in the config file; it applies at once where possible. */
  settings_set: {
    params: SettingsSetParams;
    event: unknown;
    result: SettingSaved;
  };
  /** Show all settings, and which of them the config file sets. */
  settings_show: {
    params: SettingsShowParams;
    event: unknown;
    result: SettingsShown;
  };
  /** Add a server as proposed, trust what was shown and test it, in the background. */
  setup_add: {
    params: SetupAddParams;
    event: unknown;
    result: SetupShown;
  };
  /** Dismiss the outcome of finished work on a server. */
  setup_forget: {
    params: SetupForgetParams;
    event: unknown;
    result: SetupForgotten;
  };
  /** Stop the work on a server and everything it started. */
  setup_stop: {
    params: SetupStopParams;
    event: unknown;
    result: SetupShown;
  };
  /** Test a server step by step, in the background. */
  setup_test: {
    params: SetupTestParams;
    event: unknown;
    result: SetupShown;
  };
  /** Trust a configured server as shown, install what it needs and test it, in the background. */
  setup_trust: {
    params: SetupTrustParams;
    event: unknown;
    result: SetupShown;
  };
  /** Install another version of a server as planned, in the background. */
  setup_update: {
    params: SetupUpdateParams;
    event: unknown;
    result: SetupShown;
  };
  /** List servers that are being added, installed or tested, and how the latest went; oldest first. */
  setups: {
    params: SetupsParams;
    event: unknown;
    result: SetupShown[];
  };
  /** Exchange the token of a one-time sign-in address for a key. */
  sign_in: {
    params: SignInParams;
    event: unknown;
    result: SignedIn;
  };
  /** Revoke the page's key. */
  sign_out: {
    params: SignOutParams;
    event: unknown;
    result: SignedOut;
  };
  /** Start a server and forget its earlier failures. */
  start: {
    params: StartParams;
    event: unknown;
    result: Server;
  };
  /** Stop a server until it or the host is started again. */
  stop: {
    params: StopParams;
    event: unknown;
    result: Server;
  };
  /** Test a server: start a second instance step by step and review its tools. */
  test: {
    params: TestParams;
    event: TrialStep;
    result: Trial;
  };
  /** Enable or disable a tool, always offer it, or change its timeout, in the config file. */
  tool_set: {
    params: ToolSetParams;
    event: unknown;
    result: ToolSet;
  };
  /** Show everything known about a tool. */
  tool_show: {
    params: ToolShowParams;
    event: unknown;
    result: ToolDetails;
  };
  /** List all tools, or those of one server, by name, in pages; also those that are held for review. */
  tools: {
    params: ToolsParams;
    event: unknown;
    result: ToolInfo[];
  };
  /** Show the recorded messages of a server after this number; a recording then goes on. */
  traffic: {
    params: TrafficParams;
    event: unknown;
    result: ServerTraffic;
  };
  /** Drop the recorded messages of a server; a recording goes on. */
  traffic_clear: {
    params: TrafficClearParams;
    event: unknown;
    result: TrafficState;
  };
  /** Begin or end recording the messages between this host and a server; they stay in memory. */
  traffic_record: {
    params: TrafficRecordParams;
    event: unknown;
    result: TrafficState;
  };
  /** Show the servers and tools that need trust, and trust those whose marks are given. */
  trust: {
    params: TrustParams;
    event: unknown;
    result: TrustAnswer;
  };
  /** Call a tool from the page, with approval if the policy asks for it. */
  try_tool: {
    params: TryToolParams;
    event: CallProgress | TryAsking | TryServerAsking | TryAnswered;
    result: Tried;
  };
  /** Stop an installed server, remove it from the config file, and delete its files. */
  uninstall: {
    params: UninstallParams;
    event: unknown;
    result: Uninstalled;
  };
  /** Plan or install another version of a server; the earlier one is kept for `rollback`. */
  update: {
    params: UpdateParams;
    event: InstallStep;
    result: ServerUpdated;
  };
  /** List the installed versions of a server, newest first; makes no request. */
  versions: {
    params: VersionsParams;
    event: unknown;
    result: KeptVersion[];
  };
  /** Show when each profile was last used, and how often today. */
  view_use: {
    params: ViewUseParams;
    event: unknown;
    result: ViewUse[];
  };
  /** List everything that needs the user. */
  waiting: {
    params: WaitingParams;
    event: unknown;
    result: Waiting;
  };
  /** Add a tool call to a workflow, or begin one with it; it is not saved. */
  workflow_add_call: {
    params: WorkflowAddCallParams;
    event: unknown;
    result: WorkflowDrafted;
  };
  /** Answer the question of a step. */
  workflow_answer: {
    params: WorkflowAnswerParams;
    event: unknown;
    result: RunAction;
  };
  /** Return a file that a step stored, such as a screenshot. */
  workflow_artifact: {
    params: WorkflowArtifactParams;
    event: unknown;
    result: RunArtifact;
  };
  /** Cancel a run; the step that is running is stopped. */
  workflow_cancel: {
    params: WorkflowCancelParams;
    event: unknown;
    result: RunAction;
  };
  /** Check whether an edge would bring a value of the wrong type to a step, before it is drawn. */
  workflow_check_edge: {
    params: WorkflowCheckEdgeParams;
    event: unknown;
    result: WorkflowEdgeChecked;
  };
  /** Compare two runs step by step. */
  workflow_compare: {
    params: WorkflowCompareParams;
    event: unknown;
    result: RunComparison;
  };
  /** Confirm that an imported workflow may run. */
  workflow_confirm: {
    params: WorkflowConfirmParams;
    event: unknown;
    result: WorkflowReview;
  };
  /** Send an event to a run, for a step that waits for it by name. */
  workflow_event: {
    params: WorkflowEventParams;
    event: unknown;
    result: RunAction;
  };
  /** Return the file of a workflow. */
  workflow_export: {
    params: WorkflowExportParams;
    event: unknown;
    result: WorkflowExported;
  };
  /** Make a workflow from the tool calls of a chat; it is not saved. */
  workflow_from_chat: {
    params: WorkflowFromChatParams;
    event: unknown;
    result: WorkflowDrafted;
  };
  /** Show a workflow, or a kept version of it. */
  workflow_get: {
    params: WorkflowGetParams;
    event: unknown;
    result: WorkflowShown;
  };
  /** Save the workflow of an exported file, and list what it does; its first run needs a confirmation. */
  workflow_import: {
    params: WorkflowImportParams;
    event: unknown;
    result: WorkflowImported;
  };
  /** List all workflows by name; a file that cannot be read is listed with its problems. */
  workflow_list: {
    params: WorkflowListParams;
    event: unknown;
    result: WorkflowSummary[];
  };
  /** List the kinds of nodes with the schemas of their settings and results. */
  workflow_node_types: {
    params: WorkflowNodeTypesParams;
    event: unknown;
    result: NodeTypeShown[];
  };
  /** Pause a run before its next step. */
  workflow_pause: {
    params: WorkflowPauseParams;
    event: unknown;
    result: RunAction;
  };
  /** Plan a workflow with a model, or change one; it is neither saved nor run. */
  workflow_plan: {
    params: WorkflowPlanParams;
    event: unknown;
    result: WorkflowPlanned;
  };
  /** Remove a workflow; its versions and its runs are kept. */
  workflow_remove: {
    params: WorkflowRemoveParams;
    event: unknown;
    result: WorkflowRemoved;
  };
  /** Run the workflow of an earlier run again, as a new run. */
  workflow_rerun: {
    params: WorkflowRerunParams;
    event: RunChange | EngineInstalling;
    result: RunResult;
  };
  /** Continue a run that is paused, or that was interrupted. */
  workflow_resume: {
    params: WorkflowResumeParams;
    event: RunChange | EngineInstalling;
    result: RunResult;
  };
  /** List what a workflow reads, runs and sends, and whether it was imported and is confirmed. */
  workflow_review: {
    params: WorkflowReviewParams;
    event: unknown;
    result: WorkflowReview;
  };
  /** Run a stored workflow by name, or a given one, and wait for its end. */
  workflow_run: {
    params: WorkflowRunParams;
    event: RunChange | EngineInstalling;
    result: RunResult;
  };
  /** List runs, the latest first. */
  workflow_runs: {
    params: WorkflowRunsParams;
    event: unknown;
    result: RunList;
  };
  /** Save a workflow; one with problems is saved too, but cannot run. */
  workflow_save: {
    params: WorkflowSaveParams;
    event: unknown;
    result: WorkflowShown;
  };
  /** Set the schedule of a workflow and turn it on; without `cron`, turn its schedule on or off. */
  workflow_schedule: {
    params: WorkflowScheduleParams;
    event: unknown;
    result: TriggerShown;
  };
  /** Show a run and its steps. */
  workflow_show: {
    params: WorkflowShowParams;
    event: unknown;
    result: RunShown;
  };
  /** Show everything that is recorded about one step. */
  workflow_step: {
    params: WorkflowStepParams;
    event: unknown;
    result: StepTrace;
  };
  /** Let a paused run take one step, and pause again. */
  workflow_step_once: {
    params: WorkflowStepOnceParams;
    event: unknown;
    result: RunAction;
  };
  /** List ready-made workflows to begin with. */
  workflow_templates: {
    params: WorkflowTemplatesParams;
    event: unknown;
    result: WorkflowTemplate[];
  };
  /** Turn a trigger on or off; a running host starts the runs. */
  workflow_trigger_set: {
    params: WorkflowTriggerSetParams;
    event: unknown;
    result: TriggerSwitched;
  };
  /** List what starts workflows by itself, of all workflows or of one. */
  workflow_triggers: {
    params: WorkflowTriggersParams;
    event: unknown;
    result: TriggerShown[];
  };
  /** Check a workflow, or the text of its file, without saving it. */
  workflow_validate: {
    params: WorkflowValidateParams;
    event: unknown;
    result: WorkflowChecked;
  };
  /** List the kept versions of a workflow, the latest first. */
  workflow_versions: {
    params: WorkflowVersionsParams;
    event: unknown;
    result: WorkflowVersion[];
  };
  /** Emit every change of a run until it ends. */
  workflow_watch: {
    params: WorkflowWatchParams;
    event: RunChange;
    result: RunResult;
  };
  /** Turn on a webhook with a new address; an earlier address of it is no longer valid. */
  workflow_webhook: {
    params: WorkflowWebhookParams;
    event: unknown;
    result: TriggerSwitched;
  };
}

/** What conditions of workflows compare with. */
export const OPERATORS = ["equals", "not_equals", "greater_than", "less_than", "greater_or_equal", "less_or_equal", "contains", "not_contains", "is_empty", "is_not_empty", "matches"] as const;
/** Those that look at one value only. */
export const UNARY_OPERATORS = ["is_empty", "is_not_empty"] as const;
/** How users read them. */
export const OPERATOR_WORDS = {"equals": "is", "not_equals": "is not", "greater_than": "is greater than", "less_than": "is less than", "greater_or_equal": "is at least", "less_or_equal": "is at most", "contains": "contains", "not_contains": "does not contain", "is_empty": "is empty", "is_not_empty": "is not empty", "matches": "matches the pattern"} as const;
