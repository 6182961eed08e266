# Completes stencil-tune in fish. Verbs, options and stencils are asked of the program itself.

function __stencil_tune_verbs
    stencil-tune help 2>/dev/null | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __stencil_tune_options
    set -l words (commandline -opc)
    set -l verb tune
    if test (count $words) -gt 1; and __stencil_tune_verbs | string match -qr -- "^$words[2]\t"
        set verb $words[2]
    end
    stencil-tune help $verb 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u
end

function __stencil_tune_stencils
    stencil-tune stencils 2>/dev/null | sed -n 's/^\([a-z0-9_]*\)  .*D, .*/\1/p'
end

complete -c stencil-tune -n 'string match -q -- --stencil (commandline -opc)[-1]' -a '(__stencil_tune_stencils)'
complete -c stencil-tune -n 'string match -q -- --boundary (commandline -opc)[-1]' -f -a 'hold zero clamp periodic reflect'
complete -c stencil-tune -n __fish_use_subcommand -a '(__stencil_tune_verbs)'
complete -c stencil-tune -n '__fish_seen_subcommand_from help' -f -a '(__stencil_tune_verbs)'
complete -c stencil-tune -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__stencil_tune_options)'
