# Completion of flakeforge for fish, printed by: flakeforge completion fish
# It asks the command itself: a line is a candidate, a tab and its description; or :files or :folders for fish's own.

function __flakeforge_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] completion -- $words[2..-1] "$typed" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$typed"
            case :folders
                __fish_complete_directories "$typed"
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c flakeforge -f -a '(__flakeforge_complete)'
