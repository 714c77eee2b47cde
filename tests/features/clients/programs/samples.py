"""Files as people have them: other servers, comments, habits of indentation."""

from __future__ import annotations

CLAUDE_DESKTOP = """{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/docs"],
      "env": {"LOG_LEVEL": "info"}
    }
  },
  "globalShortcut": "Ctrl+Space"
}
"""
CLAUDE_CODE = """{
  "numStartups": 412,
  "tipsHistory": {"new-user-warmup": 3},
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "https://api.example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${TOKEN}"
      }
    }
  },
  "projects": {
    "/home/me/work": {
      "mcpServers": {
        "toolcrib": {"command": "another", "args": []}
      },
      "history": [{"display": "say \\"mcpServers\\": {}, // no comment"}]
    }
  },
  "userID": "0123abcd"
}"""
CURSOR = """{"mcpServers":{"a":{"command":"uvx","args":["mcp-server-git"],"env":{"K":"${env:K}"}}}}"""
VSCODE = """// Servers of all windows.
{
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "description": "API key", "password": true }, // asked once
\t],
\t"servers": {
\t\t/* The time, and nothing else. */
\t\t"time": {
\t\t\t"type": "stdio",
\t\t\t"command": "python",
\t\t\t"args": ["-m", "mcp_server_time"],
\t\t\t"env": { "KEY": "${input:key}" },
\t\t}, // keep
\t\t// "old": { "command": "old" },
\t},
}
"""
WINDSURF = """{
    "mcpServers": {}
}
"""
ZED = """// Zed settings
//
// For information on how to configure Zed, see the documentation.
{
  "theme": "One Dark", // dark
  "buffer_font_size": 15,
  "context_servers": {
    "remote": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer t" } } // mine
  },
  "languages": {
    "Python": { "format_on_save": "on" }
  }
}
"""
GEMINI = """{
  "theme": "GitHub", /* light */
  "selectedAuthType": "oauth-personal"
  // nothing more
}
"""
CODEX = '''model = "gpt-5" # the big one
notes = """
[mcp_servers.toolcrib]
command = "only text"
"""

[mcp_servers.fs]
command = "npx"
args = [
  "-y", # no questions
  "@modelcontextprotocol/server-filesystem",
]
env = { LOG = "1" }

[mcp_servers.fs.tools.read_file]
approval_mode = "approve"

# What I trust.
[projects."/home/me/work"]
trust_level = "trusted"
'''
GOOSE = """# My goose
GOOSE_PROVIDER: anthropic
GOOSE_MODEL: "claude: the large one"   # with a colon
extensions:
  developer: {enabled: true, type: builtin, name: developer, description: "", timeout: 300, bundled: true}
  # Version control.
  git:
    enabled: true
    type: stdio
    name: git
    description: |
      git tools
      # and this is text
    cmd: uvx
    args:
    - mcp-server-git
    env_keys: [GITHUB_TOKEN]      # value lives in the keyring
    timeout: 300

# How to behave.
GOOSE_MODE: smart_approve
prompts:
- one
- two
"""
CLINE = """{
  "mcpServers": {
    "l": {
      "command": "node",
      "args": ["s.js"],
      "disabled": false,
      "autoApprove": ["read"],
      "timeout": 60
    }
  }
}
"""
LIBRECHAT = """version: 1.2.1
cache: true
mcpServers:
  # Files of the team.
  fs:
    type: stdio
    command: npx
    args:
      - -y
      - "@modelcontextprotocol/server-filesystem"
      - /data
    timeout: 30000
    serverInstructions: |
      Only read.
endpoints:
  custom:
    - name: groq
      apiKey: "${GROQ_API_KEY}"
"""
LM_STUDIO = """{
  "mcpServers": {
    "library": {
      "url": "https://library.example.com/mcp",
      "headers": {
        "Authorization": "Bearer t"
      }
    }
  }
}
"""
COPILOT = """{
  "mcpServers": {
    "browser": {
      "type": "local",
      "command": "npx",
      "args": ["@playwright/mcp@latest"],
      "env": {},
      "tools": ["*"]
    }
  }
}
"""
QWEN = """{
  "security": {"auth": {"selectedType": "openai"}}, // of the team
  "mcpServers": {
    "notes": {
      "httpUrl": "https://notes.example.com/mcp",
      "headers": {"Authorization": "Bearer $NOTES_TOKEN"},
      "discoveryTimeoutMs": 10000
    }
  },
  "mcp": {"excluded": ["*puppeteer*"]}
}
"""
OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  "model": "anthropic/claude-sonnet-4-5",
  "mcp": {
    // All that a server can do.
    "everything": {
      "type": "local",
      "command": ["npx", "-y", "@modelcontextprotocol/server-everything"],
      "environment": {
        "TOKEN": "{env:EVERYTHING_TOKEN}",
      },
      "enabled": true,
    },
  },
  "autoupdate": "notify",
}
"""
KIRO = """{
  "mcpServers": {
    "search": {
      "command": "uvx",
      "args": ["search-server"],
      "env": {
        "SEARCH_KEY": "${SEARCH_KEY}"
      },
      "disabled": false,
      "autoApprove": ["find"],
      "disabledTools": ["delete"]
    }
  }
}
"""
CRUSH = """{
  "$schema": "https://charm.land/crush.json",
  "lsp": {
    "go": { "command": "gopls" }
  },
  "mcp": {
    "files": {
      "type": "stdio",
      "command": "node",
      "args": ["/srv/files.js"],
      "timeout": 120,
      "disabled_tools": ["remove"]
    }
  }
}
"""
AMP = """{
  // Sounds only at home.
  "amp.notifications.enabled": false,
  "amp.mcpServers": {
    "code": {
      "url": "https://code.example.com/.api/mcp/v1",
      "headers": { "Authorization": "token ${CODE_TOKEN}" }
    },
  },
  "amp.tools.disable": ["builtin:edit_file"],
}
"""
FILES = {
    "claude-desktop": CLAUDE_DESKTOP,
    "claude-code": CLAUDE_CODE,
    "cursor": CURSOR,
    "vscode": VSCODE,
    "windsurf": WINDSURF,
    "zed": ZED,
    "gemini": GEMINI,
    "codex": CODEX,
    "goose": GOOSE,
    "cline": CLINE,
    "librechat": LIBRECHAT,
    "lm-studio": LM_STUDIO,
    "copilot": COPILOT,
    "qwen": QWEN,
    "opencode": OPENCODE,
    "kiro": KIRO,
    "crush": CRUSH,
    "amp": AMP,
}
BROKEN = {
    "claude-desktop": '{"mcpServers": {',
    "claude-code": '{"mcpServers": [}',
    "cursor": '{"mcpServers": [1, 2]}',
    "vscode": '{"servers": {}, "servers": {}}',
    "windsurf": "mcpServers: {}",
    "zed": '["no object"]',
    "gemini": '{"mcpServers": "none"}',
    "codex": "mcp_servers = { fs = { command = 'x' } }\n",
    "goose": "extensions: {git: {enabled: true}}\n",
    "cline": '{"mcpServers": {"l": }}',
    "librechat": "mcpServers: {fs: {type: stdio}}\n",
    "lm-studio": '{"mcpServers": {},,}',
    "copilot": '{"mcpServers": []}',
    "qwen": '{"mcpServers": {"a": {}}',
    "opencode": '{"mcp": ["local"]}',
    "kiro": '{"mcpServers": {"a": {}}, "mcpServers": {}}',
    "crush": "mcp add files --type stdio\n",
    "amp": '{"amp.mcpServers": true}',
}
"""Files that are wrong, or written in a way that cannot be added to."""
