# Runs on the far host: takes a copy of rdmadoctor from standard input into a
# fresh folder, runs it there and removes it. It is sent as one line in single
# quotes through a login shell that may be any, so it holds no single quote, no
# backslash and no exclamation mark, and its lines can be joined by spaces.
# NONCE and SIZE are filled in.
umask 077;
say() { echo "rdmadoctor-NONCE $*"; };
for tool in mktemp head chmod wc rm uname; do
command -v $tool >/dev/null 2>&1 || { say missing $tool; exit 1; };
done;
dir=; refused=;
clean() { [ -z "$dir" ] || rm -rf "$dir"; };
trap clean EXIT; trap "exit 1" HUP INT TERM PIPE;
for place in "${TMPDIR:-/tmp}" /tmp /var/tmp /dev/shm "${XDG_RUNTIME_DIR:-/tmp}" "${HOME:-/tmp}"; do
dir=$(mktemp -d "$place/rdmadoctor.XXXXXX" 2>/dev/null) || { dir=; refused="$refused $place:not-writable"; continue; };
# A mount without exec refuses even a script without an interpreter line.
echo : > "$dir/try" && chmod 700 "$dir/try" && "$dir/try" 2>/dev/null && rm -f "$dir/try" && break;
rm -rf "$dir"; dir=; refused="$refused $place:noexec";
done;
[ -n "$dir" ] || { say nowhere $refused; exit 1; };
say ready $(uname -s) $(uname -m) $refused;
head -c SIZE > "$dir/rdmadoctor";
got=$(wc -c < "$dir/rdmadoctor");
[ "$got" -eq SIZE ] || { say short $got $dir; exit 1; };
chmod 700 "$dir/rdmadoctor";
say copied;
"$dir/rdmadoctor" agent --stdio --own;
say ended $?;
