#!/usr/bin/env bash
# Every C and C++ snippet of the documentation is a run of lines of a program in examples/, which the tests compile; every
# Lua snippet parses. Leading #include lines of a block do not count. A block that is not meant to be whole says so in the line before: <!-- not compiled: why -->
set -euo pipefail
cd "$(dirname "$0")/.."
perl -e '
    my (%code, $bad);
    sub dedent {
        my @lines = @_;
        my ($least) = sort { $a <=> $b } map { /^( *)\S/ ? length $1 : () } @lines;
        return join "\n", map { /\S/ ? substr($_, $least // 0) : "" } @lines;
    }
    for my $file (glob "examples/*.c examples/*.cpp") {
        open my $in, "<", $file or die; chomp(my @lines = <$in>); $code{$file} = \@lines;
    }
    for my $page ("README.md", glob "docs/*.md docs/notes/*.md") {
        open my $in, "<", $page or die; chomp(my @lines = <$in>);
        for (my $i = 0; $i < @lines; ++$i) {
            next unless $lines[$i] =~ /^```(c|cpp|lua)$/;
            my ($language, $start, @block) = ($1, $i + 1);
            my $exempt = $i > 0 && $lines[$i - 1] =~ /^<!-- not compiled: /;
            push @block, $lines[$i] while $lines[++$i] !~ /^```$/;
            next if $exempt;
            if ($language eq "lua") {
                open my $lua, "|-", "luac5.4 -p -" or next;
                print $lua join("\n", @block), "\n";
                close $lua or do { print STDERR "snippets: $page:$start does not parse\n"; $bad = 1 };
                next;
            }
            shift @block while @block && $block[0] =~ /^(#include .*)?$/;
            my $wanted = dedent(@block);
            my $found = grep {
                my $lines = $_;
                grep { dedent(@$lines[$_ .. $_ + $#block]) eq $wanted } 0 .. $#$lines - $#block
            } values %code;
            print STDERR "snippets: $page:$start is no run of lines of a program in examples/\n" and $bad = 1 unless $found;
        }
    }
    exit($bad // 0);
'
